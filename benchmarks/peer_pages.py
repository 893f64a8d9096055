"""The peers' page from `tables.json`: a critical-difference plot, and every lost table.

Mean ranks of two competitors over N tables differ at the level of 5 % if they are further apart
than the critical difference of Nemenyi's test (Demsar, JMLR 2006),

    CD = q sqrt(k (k + 1) / (6 N)),

k competitors, q the 95 % point of the studentised range over the square root of two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.entries import _tables as ranks
from benchmarks.table import markdown, number, percent
from benchmarks.tabular.competitors import OURS, PEERS

KINDS = (
    ("classification", "error", "Error"),
    ("classification", "log_loss", "Log loss"),
    ("regression", "error", "NMSE"),
)
Q = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)  # for k = 2, ..., 10
ROW = 0.22  # between two labels of the plot


def found_in(result: dict[str, Any]) -> ranks.Found:
    """Rows by table and competitor."""
    rows = [row for row in result["rows"] if row["job"]["table"] != "friedman1"]
    return {(row["job"]["table"], row["job"]["competitor"]): row for row in rows}


def critical_difference(n_competitors: int, n_tables: int) -> float:
    return float(
        Q[n_competitors - 2] * (n_competitors * (n_competitors + 1) / (6 * n_tables)) ** 0.5
    )


def alike(result: dict[str, Any]) -> str:
    """Who is within the critical difference of the best, as a list in Markdown."""
    found, lines = found_in(result), []
    for task, key, words in KINDS:
        means = ranks.mean_ranks(found, task, key)
        distance = critical_difference(len(means), len(ranks.tables_of(found, task)))
        best = min(means, key=lambda name, m=means: m[name])
        near = [n for n in means if n != best and means[n] - means[best] <= distance]
        verdict = f"not told apart from {', '.join(near)}" if near else "apart from all others"
        lines.append(f"- {words}: {best} is first, {verdict}.")
    return "\n".join(lines) + "\n"


def better_peers(found: ranks.Found, table: str, key: str) -> list[str]:
    """Peers whose figure is better than AutoKernel's beyond a tie, the best first."""
    better = [peer for peer in PEERS if ranks.compare(found, table, peer, key) == "loss"]
    return sorted(better, key=lambda peer: ranks.figure(found, table, peer, key))


def lost_tables(found: ranks.Found) -> list[str]:
    """Tables on which a peer is better in some measure."""
    return [
        table
        for table in ranks.tables_of(found)
        if any(
            better_peers(found, table, key)
            for task, key, _ in KINDS
            if found[table, PEERS[0]]["task"] == task
        )
    ]


def losses(result: dict[str, Any]) -> str:
    """Tables and measures on which a peer is better, as Markdown."""
    found = found_in(result)
    lines: list[list[Any]] = []
    for task, key, words in KINDS:
        for table in ranks.tables_of(found, task):
            if better := better_peers(found, table, key):
                pair = [ranks.figure(found, table, name, key) for name in (OURS, better[0])]
                shown = [number(v) if key == "log_loss" else percent(v) for v in pair]
                lines.append([table, words, *shown, better[0], len(better)])
    head = ("table", "measure", "AutoKernel", "best peer", "which", f"better, of {len(PEERS)}")
    words = (
        f"{len(lost_tables(found))} of {len(ranks.tables_of(found))} tables. Better: by more than "
        "one percent, and more than one test row where rows are counted."
    )
    return f"{markdown(head, lines)}\n\n{words}\n"


def draw(result: dict[str, Any], save: Any) -> None:
    """One axis for each measure; a bar joins those that do not differ from the first."""
    import matplotlib.pyplot as plt

    found = found_in(result)
    figure, axes = plt.subplots(3, 1, figsize=(8, 5.4), layout="constrained")
    for axis, (task, key, words) in zip(axes, KINDS, strict=True):
        n_tables = len(ranks.tables_of(found, task))
        means = ranks.mean_ranks(found, task, key)
        axis.set_title(f"{words}, {n_tables} tables", fontsize=9, loc="left")
        line_up(axis, means, critical_difference(len(means), n_tables))
    save(figure, "peers.svg")


def line_up(axis: Any, means: Mapping[str, float], distance: float) -> None:
    ordered = sorted(means, key=lambda name: means[name])
    half = (len(ordered) + 1) // 2
    for place, name in enumerate(ordered):
        left = place < half
        low = -ROW * (1 + (place if left else len(ordered) - 1 - place))
        edge = 0.8 if left else len(ordered) + 0.2
        colour = "#1b6ca8" if name == OURS else "#444444"
        axis.plot([means[name], means[name], edge], [0, low, low], color=colour, linewidth=1)
        side = "right" if left else "left"
        text = f" {name} {means[name]:.2f} "
        axis.text(edge, low, text, ha=side, va="center", color=colour, fontsize=8)
    first = means[ordered[0]]
    axis.plot([first, first + distance], [0.1, 0.1], color="#d95f02", linewidth=3)
    axis.text(first + distance, 0.1, f"  critical difference {distance:.2f}", va="center",
              color="#d95f02", fontsize=8)  # fmt: skip
    axis.axhline(0, color="black", linewidth=1, xmin=0.0, xmax=1.0)
    axis.set_xlim(-0.6, len(ordered) + 1.9)
    axis.set_ylim(-ROW * (half + 0.6), 0.3)
    axis.set_xticks(range(1, len(ordered) + 1))
    axis.xaxis.set_ticks_position("top")
    axis.set_yticks([])
    for spine in axis.spines.values():
        spine.set_visible(False)
