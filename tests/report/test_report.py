"""The report: one file with everything in it, true to the model, right in a real browser."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")

from kboost import (  # noqa: E402
    AutoKernelClassifier,
    KernelBoostClassifier,
    KernelBoostRegressor,
    MKBoostClassifier,
    SparseKernelRegressor,
)
from kboost.cli.demo_data import demo_table  # noqa: E402
from kboost.preparation.inverse import DatePart  # noqa: E402
from kboost.report import drivers, rates, rivals, row_text, sections, write_report  # noqa: E402
from kboost.settings import ColumnGeneration, Quantile  # noqa: E402
from kboost.tables import describe, preparation, target_of, tidy  # noqa: E402
from tests.fitted import MODELS, fitted  # noqa: E402
from tests.fitted import X as VALUES  # noqa: E402

LIMIT = 2_000_000  # bytes
ORDER = [
    "summary", "errors", "drivers", "explained", "data", "competition", "kernels", "terms",
    "growth", "comparison", "use", "made", "certificate",
]  # fmt: skip


@pytest.fixture
def no_charts(monkeypatch):
    """Reports without their charts, which take most of the time, and with short clocks."""
    monkeypatch.setattr(rivals, "TIMED_ROWS", 10)
    for module in (rates, *map(importlib.import_module, CHARTED)):
        monkeypatch.setattr(module, "chart", lambda name, title, words, draw, size: "")


CHARTED = [f"kboost.report.{name}" for name in ("dependence", "errors", "training")]


def sections_of(text):
    """The sections in their order."""
    found = re.findall(r'<section id="(\w+)"', text)
    assert found == [name for name in ORDER if name in found]
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.S).lower().split()
    return set(found)


def browser_helpers():
    spec = importlib.util.spec_from_file_location("browser", Path(__file__).parent / "browser.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def messy():
    """A fitted pipeline and its rows."""
    frame = demo_table(150)
    y, kept, _ = target_of(frame["late"])
    frame = frame[kept].drop(columns="late").reset_index(drop=True)
    table = tidy(frame, describe(frame))
    estimator = KernelBoostClassifier(
        max_columns=10, C=1.0, solver=ColumnGeneration(early_stopping=0.2)
    )
    model = make_pipeline(preparation(table), estimator).fit(table[:100], y[:100])
    return model, table, y


@pytest.fixture(scope="module")
def page(messy, tmp_path_factory):
    model, table, y = messy
    path = tmp_path_factory.mktemp("report") / "r.html"
    write_report(
        path, model, table[100:], y[100:], X_learn=table[:100], y_learn=y[:100],
        target="late <b>", seconds=1.0, left_out=[("order_id", "an id")],
    )  # fmt: skip
    return path


def test_one_small_file_that_asks_for_nothing(page):
    text = page.read_text("utf-8")
    assert len(text.encode()) < LIMIT
    assert not re.search(r"<script|<link[^>]+stylesheet|@import|src=|\sstyle=|\son\w+=", text)
    assert text.count("<style") == 1
    assert "default-src 'none'" in text
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert all(a.startswith("http://www.w3.org/") for a in addresses)


def test_words_of_users_are_escaped(page):
    text = page.read_text("utf-8")
    assert "late <b>" not in text
    assert "late &lt;b&gt;" in text


def test_ids_are_there_once_and_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', text)
    assert {a or b for a, b in targets} <= set(ids)


def test_centres_come_back_in_the_users_units(messy):
    model, table, _ = messy
    back = row_text.named_rows(model, model[0].transform(table[:100]))
    days = (table["ordered (d/m)"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    for name, given in (("price", table["price"]), ("ordered (d/m):days", days)):
        known = given[:100].notna().to_numpy()
        found = np.array([row[name] for row in back])[known]
        np.testing.assert_allclose(found, given[:100][known])
    assert [row["depot"] for row in back] == table["depot"][:100].tolist()


def test_dates_are_shown_as_dates():
    assert row_text.show(DatePart("ordered:days"), 20215.0) == "ordered = 2025-05-07"
    assert row_text.show(DatePart("ordered (d/m):days"), 20215.0) == "ordered = 2025-05-07"
    assert row_text.show(DatePart("ordered:weekday"), 6.0) == "ordered on a Sunday"
    assert row_text.show("price", 12.3456) == "price = 12.35"


def test_rows_of_a_table_are_told_by_what_is_unusual_in_them():
    n = 50
    table = pd.DataFrame({
        "title": [f"no {i}" for i in range(n)],
        "kind": ["rare", None, *["common"] * (n - 2)],
        "day": pd.Timestamp("2024-02-29") + pd.to_timedelta(np.arange(n), unit="D"),
        "price": [np.nan, 9e7, *range(n - 2)],
    })  # fmt: skip
    rows = row_text.rows_of_frame(table)
    names = [row_text.unusual(row, rows) for row in rows[:2]]
    pairs = zip(rows[:2], names, strict=True)
    shown = [[row_text.show(name, row[name]) for name in order] for row, order in pairs]
    assert shown[0][:2] == ["kind = rare", "day = 2024-02-29"]
    assert shown[1][:2] == ["kind = (missing)", "price = 90,000,000"]
    assert "price = (missing)" in shown[0]
    assert shown[1][-1] == "title = no 1"  # all titles are rare


def test_columns_that_are_named_like_parts_of_others():
    """A column may be called age:missing or trial:days; that makes it neither a gap nor a date."""
    table = pd.DataFrame(
        {"trial:days": [30.0, 1e9, 40, 1], "age:missing": [1.0, 2, 3, np.nan], "x": [0.5, 0, 1, 2]}
    )
    prepare = preparation(table).fit(table)
    model = make_pipeline(prepare, KernelBoostClassifier(["rbf"], C=1.0)).fit(table, [0, 1, 0, 1])
    row = row_text.named_rows(model, prepare.transform(table))[1]
    shown = [row_text.show(name, value) for name, value in row.items()]
    assert shown == ["trial:days = 1,000,000,000", "age:missing = 2", "x = 0"]
    assert row_text.show("x", np.inf) == "x = inf"


ODD = r"\1 \g<9> $\frac$ $2 #2f6f9f id=\"a\" font: 9px; [bold] %s {0} </title><b>"


@pytest.mark.parametrize("labels", [True, False])
def test_names_and_labels_are_no_patterns_and_no_mathematics(labels, tmp_path, monkeypatch):
    monkeypatch.setattr(rivals, "TIMED_ROWS", 10)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"{ODD}{j}": rng.normal(size=60) for j in range(2)})
    y = X.iloc[:, 0].to_numpy() + X.iloc[:, 1].to_numpy()
    model = KernelBoostRegressor(["rbf"], C=1.0, max_columns=3)
    if labels:
        y = np.array([f"{ODD}{k}" for k in np.digitize(y, [-0.5, 0.5])])
        model = KernelBoostClassifier(["rbf"], C=1.0, max_columns=3)
    path = tmp_path / "r.html"
    write_report(path, model.fit(X, y), X, y, target=ODD, model_path=tmp_path / 'a "b".kboost')
    charts = re.findall(r"<svg.*?</svg>", path.read_text("utf-8"), flags=re.S)
    texts = [t for c in charts for t in ElementTree.fromstring(c).itertext()]
    expected = f"Objective and gap by terms generated ({ODD}0 against the rest)"
    assert (expected if labels else f"{ODD}, true") in texts
    assert f"{ODD}0: partial dependence" in texts


def test_each_split_adds_up_to_its_value(page):
    text = page.read_text("utf-8")
    tables = re.findall(r"<caption>The row (?:with|in).*?</table>", text, flags=re.S)
    assert len(tables) == 3
    for table in tables:
        *parts, total = [float(v) for v in re.findall(r"(?:> ?)([-+][\d.]+(?:e-?\d+)?)<", table)]
        np.testing.assert_allclose(sum(parts), total, rtol=5e-3, atol=5e-3)


def test_scaled_rows_come_back_too():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), KernelBoostClassifier(["rbf"], C=1.0)).fit(X, y)
    back = row_text.named_rows(model, model[0].transform(X[:3]))
    np.testing.assert_allclose([list(row.values()) for row in back], X[:3])
    assert list(back[0]) == list(X.columns)


@pytest.mark.parametrize(
    "model",
    [
        KernelBoostRegressor(["rbf", "linear"], C=1.0, max_columns=8),
        KernelBoostRegressor("active", C=1.0, max_columns=3),
        KernelBoostRegressor("halfspaces", C=1.0, epsilon=Quantile(0.625), max_columns=3),
        SparseKernelRegressor(["rbf"], ridge=0.1, max_columns=10),
        SparseKernelRegressor(ridge=0.1, cells=60),
    ],
    ids=["kernels", "active", "halfspaces", "sparse", "cells"],
)
def test_regressors_of_all_kinds(model, tmp_path, no_charts):
    X, y = make_friedman1(120, random_state=0)
    write_report(tmp_path / "r.html", model.fit(X[:90], y[:90]), X[90:], y[90:])
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "Quantiles of true minus predicted" in text
    assert ("0.625" in text) == isinstance(getattr(model, "epsilon", None), Quantile)
    assert "The rows with the largest errors" in text
    assert {"drivers", "explained", "data", "kernels"} <= sections_of(text)


OTHERS = [
    name
    for name, (model, _, _) in MODELS.items()
    if isinstance(model, MKBoostClassifier) or "baselines" in type(model).__module__
    if name not in ("mixture learned", "mixtures of four classes")  # these are "mixtures learned"
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", OTHERS)
def test_machines_of_all_kinds(name, tmp_path, no_charts):
    model, (_, rows, y) = fitted(name), MODELS[name]
    write_report(tmp_path / "r.html", model, rows, y, seen=True)
    found = sections_of((tmp_path / "r.html").read_text("utf-8"))
    assert {"summary", "certificate", "kernels", "errors", "comparison", "use", "made"} <= found
    is_table = name not in ("boosted votes", "boosted precomputed")  # sparse rows, kernel matrices
    assert ("explained" in found) is ("drivers" in found) is ("data" in found) is is_table
    assert ("growth" in found) is not name.startswith("composite")


@pytest.mark.parametrize("name", ["auto", "auto three classes", "auto numbers", "auto logarithms"])
def test_what_competed_is_shown(name, tmp_path, no_charts):
    model, (_, rows, y) = fitted(name), MODELS[name]
    write_report(tmp_path / "r.html", model, rows, y, seen=True, X_learn=rows, y_learn=y)
    text = (tmp_path / "r.html").read_text("utf-8")
    found = sections_of(text)
    assert {*ORDER[:7], "comparison", "use", "made"} <= found
    for line in model.leaderboard_:
        assert f">{line['candidate']}<" in text
    assert f"The model is an {type(model).__name__} fitted to 60 rows" in text
    assert "gradient-boosted trees" in text


@pytest.fixture(scope="module")
def leaky(messy):
    """A table with a leak, a drift, missing values and new values, in an AutoKernel estimator."""
    _, table, y = messy
    label = np.unique(y)[1]
    table = table.assign(
        paid=np.where(y == label, "yes", "no"),
        moved=np.arange(float(len(table))),
        town=["b"] * 100 + ["c"] * (len(table) - 100),
    )
    model = AutoKernelClassifier(max_seconds=2).fit(table[:100], y[:100])
    return model, table, y


def test_leaks_drift_and_missing_values_are_noted(leaky, tmp_path, no_charts):
    model, table, y = leaky
    given = {"X_learn": table[:100], "y_learn": y[:100], "target": "late"}
    write_report(tmp_path / "r.html", model, table[100:], y[100:], **given)
    text = (tmp_path / "r.html").read_text("utf-8")
    sections_of(text)
    notes = re.search(r"Columns to look at.*?</table>", text, flags=re.S)[0]
    found = set(re.findall(r"<tr><td>(\w+)</td><td>(leak|drift|new values|missing values)<", notes))
    assert {("paid", "leak"), ("moved", "drift"), ("town", "new values")} <= found
    assert ("price", "leak") not in found
    assert "Shares of missing values" in text
    assert "rows_for(model, read_table(" in text


def test_permuting_finds_the_columns_that_matter(tmp_path, no_charts, monkeypatch):
    model, rows = fitted("sparse cells"), MODELS["sparse cells"][1]
    seen = {}
    keep = drivers.permuted
    monkeypatch.setattr(drivers, "permuted", lambda s: seen.setdefault("found", keep(s)))
    monkeypatch.setattr(sections, "MAKERS", (drivers.drivers,))
    write_report(tmp_path / "r.html", model, rows, MODELS["sparse cells"][2])
    found = seen["found"]
    assert set(found.columns[:2]) == {0, 1}
    assert (np.diff(found.added[:, 0]) <= 0).all()
    monkeypatch.setattr(drivers, "COLUMNS", 2)
    seen.clear()
    write_report(tmp_path / "r.html", model, rows, MODELS["sparse cells"][2])
    assert set(seen["found"].columns) == set(model.feature_importances_.argsort()[-2:])


def test_a_calibrated_forecast_has_no_gap():
    chance = np.repeat([0.2, 0.8], 50)
    happened = np.arange(100) % 5 < np.repeat([1, 4], 50)
    mean, share, gap = rates.calibration_curve(happened, chance)
    np.testing.assert_allclose(mean, share)
    assert gap == pytest.approx(0.0, abs=1e-12)
    assert rates.calibration_curve(~happened, chance)[2] == pytest.approx(0.6)


def test_novelty_has_no_target_to_be_judged_by(tmp_path):
    with pytest.raises(TypeError, match=r"a classifier or a regressor.*got KernelBoostNovelty"):
        write_report(tmp_path / "r.html", fitted("novelty"), VALUES, np.ones(60))


def test_a_term_that_says_nothing_is_no_important_one(tmp_path, no_charts):
    model = KernelBoostClassifier(["rbf"], C=1.0).fit(VALUES[:2], [0, 1])
    write_report(tmp_path / "r.html", model, VALUES[:1], [0])  # one row: nothing varies
    assert "The most important terms" not in (tmp_path / "r.html").read_text("utf-8")


def test_many_classes_are_told_by_their_commonest_mistakes(tmp_path, no_charts):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.arange(90) % 15
    model = KernelBoostClassifier(["rbf"], C=1.0, max_columns=2).fit(X, y)
    write_report(tmp_path / "r.html", model, X, y, seen=True)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "Labels mistaken most" in text
    assert "optimistic" in text


def test_the_rivals_of_many_rows_are_fitted_to_some(monkeypatch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(day=20_000.0 + np.arange(150) % 7)  # far from zero: it must not hurt the rival
    model = KernelBoostClassifier(["rbf"], C=1.0, max_columns=3).fit(X, y)
    for name, rows in (("SVM_ROWS", 60), ("TREE_ROWS", 60), ("TREES", 30), ("TIMED_ROWS", 10)):
        monkeypatch.setattr(rivals, name, rows)
    for measure in (rivals.svm_figures, rivals.tree_figures):
        found = measure(model, X, y, X, y.to_numpy())
        assert found.note == "fitted to 60 of the rows"
        assert found.scores[0].value > 0.8


def test_other_models_are_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="got SVC"):
        write_report(tmp_path / "r.html", SVC().fit(X, y), X, y)
    assert not (tmp_path / "r.html").exists()


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    driver = browser_helpers().start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def schemes(driver, value):
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": value}]},
    )


def test_in_a_browser_all_charts_are_drawn_and_named(driver, page):
    driver.get(page.as_uri())
    assert [entry for entry in driver.get_log("browser") if entry["level"] != "INFO"] == []
    charts = driver.execute_script(
        """return [...document.querySelectorAll('svg.chart')].map(svg => {
          const named = svg.getAttribute('aria-labelledby').split(' ')
            .map(id => document.getElementById(id)?.textContent);
          const box = svg.getBoundingClientRect();
          return {named, role: svg.getAttribute('role'), width: box.width, height: box.height,
                  marks: svg.querySelectorAll('path, use').length,
                  words: svg.querySelectorAll('text').length};
        });"""
    )
    assert len(charts) >= 3
    for chart in charts:
        assert chart["role"] == "img"
        assert all(chart["named"])
        assert chart["width"] > 300
        assert chart["height"] > 80
        assert chart["marks"] > 5
        assert chart["words"] > 3


def test_in_a_browser_the_keyboard_reaches_everything(driver, page):
    from selenium.webdriver.common.keys import Keys

    driver.get(page.as_uri())
    body = driver.find_element("tag name", "body")
    body.send_keys(Keys.TAB)
    assert driver.switch_to.active_element.get_attribute("class") == "skip"
    reached = set()
    for _ in range(80):
        active = driver.switch_to.active_element
        reached.add(active.tag_name)
        if active.tag_name == "summary":
            active.send_keys(Keys.ENTER)
            assert active.find_element("xpath", "..").get_attribute("open") is not None
            break
        active.send_keys(Keys.TAB)
    assert {"a", "summary"} <= reached
    unnamed = driver.execute_script(
        """return [...document.querySelectorAll('[tabindex], table, nav, section')].filter(e =>
          !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')
            || e.querySelector('caption, code'))).map(e => e.outerHTML.slice(0, 80));"""
    )
    assert unnamed == []


def test_in_a_browser_light_and_dark_are_readable(driver, page):
    driver.get(page.as_uri())
    contrasts = {}
    for scheme in ("light", "dark"):
        schemes(driver, scheme)
        pairs = driver.execute_script(
            """const back = getComputedStyle(document.body).backgroundColor;
            return [...document.querySelectorAll(
              'p, h2, td, th, a, dt, summary, figcaption, svg text')]
              .map(e => {const s = getComputedStyle(e);
                 return [e.closest('svg') ? s.fill : s.color, back];});"""
        )
        contrasts[scheme] = min(contrast(*pair) for pair in pairs)
    assert min(contrasts.values()) >= 4.5, contrasts
    assert brightness(pairs[0][1]) < 0.1  # the dark one is dark


def brightness(colour):
    channels = np.array([float(v) for v in re.findall(r"[\d.]+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    high, low = sorted((brightness(one), brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_in_a_browser_a_narrow_screen_does_not_scroll_sideways(driver, page):
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True},
    )
    driver.get(page.as_uri())
    widths = driver.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    hints = driver.execute_script(
        """return [...document.querySelectorAll('.scroll')].filter(e =>
            !e.closest('details:not([open])')).map(e =>
          [e.scrollWidth > e.clientWidth, e.querySelector('.hint').offsetHeight > 0]);"""
    )
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert widths[0] <= widths[1]
    assert [wide for wide, _ in hints] == [said for _, said in hints]
    assert any(wide for wide, _ in hints)
