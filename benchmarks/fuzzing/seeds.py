"""Sound files to begin with: every kind of model that can be saved, and rows that it predicts."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

N_ROWS = 4  # to predict


def write_seeds(folder: Path) -> None:
    """A model file and a pickle of rows for each kind."""
    import kboost
    from tests.fitted import MODELS, fitted, rows_of

    made = {**{name: (fitted(name), rows_of(name)) for name in MODELS}, **_others()}
    for number, (model, rows) in enumerate(made.values()):
        kboost.save_model(model, folder / f"{number:03d}.kboost")
        (folder / f"{number:03d}.rows").write_bytes(pickle.dumps(rows[:N_ROWS]))
    (folder / "names").write_text("\n".join(made))


def read_seeds(folder: Path) -> list[tuple[str, bytes, Any]]:
    """Name, file and rows of each; the order is always the same."""
    names = (folder / "names").read_text().splitlines()
    paths = sorted(folder.glob("*.kboost"))
    return [
        (name, path.read_bytes(), pickle.loads(path.with_suffix(".rows").read_bytes()))
        for name, path in zip(names, paths, strict=True)
    ]


def _others() -> dict[str, tuple[Any, Any]]:
    """Pipelines, tables with words, dates and text, and models that rows came to in batches."""
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import VarianceThreshold
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.preprocessing import (
        KBinsDiscretizer,
        MaxAbsScaler,
        MinMaxScaler,
        Normalizer,
        OneHotEncoder,
        OrdinalEncoder,
        PolynomialFeatures,
        PowerTransformer,
        QuantileTransformer,
        RobustScaler,
        StandardScaler,
    )

    import kboost
    from tests.fitted import GAPS, SIGN, VALUE, X

    def model() -> Any:
        return kboost.SparseKernelRegressor(max_columns=5, ridge=0.1)

    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), model())
    bins = make_pipeline(
        make_union(KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), PCA(2)),
        MaxAbsScaler(),
        kboost.KernelBoostClassifier(["linear"], C=1.0),
    )
    scaled = make_pipeline(
        make_column_transformer((PowerTransformer(), [0, 1]), remainder=MinMaxScaler()),
        VarianceThreshold(),
        QuantileTransformer(n_quantiles=10),
        RobustScaler(),
        Normalizer(),
        PolynomialFeatures(2),
        model(),
    )
    words = make_pipeline(
        make_column_transformer(
            (
                OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist"),
                ["word", "flag"],
            ),
            (OrdinalEncoder(), ["word"]),
        ),
        kboost.KernelBoostClassifier(["linear"], C=1.0),
    )
    table = _table()
    stream = kboost.SparseKernelRegressor(max_columns=10, ridge=0.1)
    stream_of_classes = kboost.SparseKernelClassifier(max_columns=10, ridge=0.1)
    for part in (slice(0, 30), slice(30, 60)):
        stream.partial_fit(X[part], VALUE[part])
        stream_of_classes.partial_fit(X[part], SIGN[part], classes=[0, 1])
    return {
        "pipeline of numbers": (numbers.fit(GAPS, VALUE), GAPS),
        "pipeline of bins": (bins.fit(X, SIGN), X),
        "pipeline of scalers": (scaled.fit(X, VALUE), X),
        "pipeline of words": (words.fit(table, SIGN), table),
        "stream": (stream, X),
        "stream of classes": (stream_of_classes, X),
        "table": (kboost.AutoKernelClassifier().fit(table, SIGN), table),
        "table of values": (kboost.AutoKernelRegressor().fit(table, VALUE), table),
    }


def _table() -> Any:
    import numpy as np
    import pandas as pd

    from tests.fitted import GAPS

    rng = np.random.default_rng(1)
    table = pd.DataFrame(GAPS[:, :2], columns=["a", "b"])
    table["word"] = np.array(["red", "green", "blue"], dtype=object)[rng.integers(0, 3, 60)]
    table["many"] = [f"level {k}" for k in rng.integers(0, 25, 60)]
    table["flag"] = rng.integers(0, 2, 60) == 1
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), unit="D")
    table["text"] = [
        " ".join(rng.choice(["sun", "rain", "wind", "snow", "hail"], 6)) for _ in table.a
    ]
    return table
