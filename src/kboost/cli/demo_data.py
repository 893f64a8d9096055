"""A raw table for the demonstration: deliveries, late or in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._optional import require


def demo_table(n_rows: int = 1200, seed: int = 7) -> Any:
    """Ids, dates, prices with currency signs, categories with missing values, text, a constant."""
    pd = require("pandas", extra="cli", what="the demonstration")
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 360, n_rows), unit="D")
    weight = rng.gamma(2.0, 4.0, n_rows)
    distance = rng.gamma(3.0, 120.0, n_rows)
    price = 5 + 0.8 * weight + 0.02 * distance + rng.normal(0, 1.5, n_rows)
    carrier = rng.choice(
        ["Alpin", "Nordpost", "Zephyr", "Kurier 24"], n_rows, p=[0.4, 0.3, 0.2, 0.1]
    )
    depot = rng.choice(["007", "012", "101"], n_rows)
    risk = (
        1.6 * (distance > 380)
        + 1.1 * np.exp(-(((weight - 13) / 5) ** 2))
        + 1.2 * (carrier == "Zephyr")
        + 0.9 * (days.day_of_week >= 4)
        + 0.8 * (days.month == 12)
        - 1.9
        + 0.45 * rng.normal(size=n_rows)
    )
    table = pd.DataFrame(
        {
            "order_id": np.arange(48001, 48001 + n_rows),
            "ordered": np.where(
                rng.random(n_rows) < 0.02, "", days.strftime("%d/%m/%Y").to_numpy(dtype=object)
            ),
            "weight_kg": _with(rng, np.char.mod("%.1f", weight), 0.06, ["", "?", "n/a"]),
            "distance": _with(rng, np.char.mod("%.0f km", distance), 0.0, [""]),
            "price": [f"$ {value:,.2f}" for value in np.maximum(price, 4)],
            "carrier": _with(rng, carrier, 0.05, ["", "NA"]),
            "depot": depot,
            "express": rng.choice(["yes", "no"], n_rows),
            "comment": [f"ring {rng.integers(1, 10_000)} {_word(rng)}" for _ in range(n_rows)],
            "country": "AT",
            "late": np.where(risk > 0, "late", "in time"),
        }
    )
    table["distance"] = table["distance"].str.removesuffix(" km")
    table.loc[rng.choice(n_rows, 9, replace=False), "distance"] = "far"
    table.loc[rng.choice(n_rows, 14, replace=False), "late"] = ""
    return table


def _with(rng: np.random.Generator, values: Any, share: float, words: list[str]) -> Any:
    """Values, some of them replaced by words for missing values."""
    out = np.asarray(values, dtype=object)
    replaced = rng.random(len(out)) < share
    out[replaced] = rng.choice(words, int(replaced.sum()))
    return out


def _word(rng: np.random.Generator) -> str:
    return str(rng.choice(["twice", "the neighbour", "not", "and wait", "upstairs"]))
