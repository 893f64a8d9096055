"""The contracts between the parts, and the values that cross them.

Two signals only: `Fit.weights`, one signed number a row, goes from the master to the oracle;
`MasterRun.price` is the only question back. Parts are frozen dataclasses of hyper-parameters;
`start` makes a run, which holds the state.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.deadline import NO_LIMIT, Deadline


class Hypothesis(Protocol):
    """A function of one row, `h(x)`; its family evaluates many of a kind together."""

    @property
    def family(self) -> Family: ...


class Part(Protocol):
    """Hypotheses of one family with their coefficients, ready to predict."""

    @property
    def coef(self) -> FloatArray: ...  # (m, n_outputs)

    def __call__(self, X: Any) -> FloatArray: ...  # (n, n_outputs)


class Family(Hashable, Protocol):
    """What hypotheses of a kind share (a kernel, say)."""

    def columns(self, members: Sequence[Any], X: Any) -> FloatArray:
        """Values of the members at the rows of X, (n, m)."""

    def combine(self, members: Sequence[Any], coef: FloatArray) -> Part:
        """The sum of the members with coefficients (m, n_outputs) as one part."""


class Dictionary(Protocol):
    """All columns on offer, lined up by number, never all in memory."""

    @property
    def n_columns(self) -> int: ...

    @property
    def rms(self) -> FloatArray: ...  # (n_columns,), 0 for a column that is not on offer

    @property
    def strata(self) -> Sequence[slice]: ...  # the columns in groups, first those to prefer

    def edges(self, weights: FloatArray, ids: IntArray | None = None) -> FloatArray:
        """`h_j' weights` of every column, (n_columns,), or of the columns `ids`, (len(ids),)."""

    def centered_at(self, rows: BoolArray) -> BoolArray | None:
        """Which columns are centred at one of the rows, (n_columns,); None if not known."""

    def values(self, ids: IntArray, *, keep: bool = True) -> FloatArray:
        """The columns `ids` at the training rows, (n, len(ids)); `keep` unless only to look at."""

    def hypotheses(self, ids: IntArray) -> Sequence[Hypothesis]:
        """The columns `ids` as functions of a row."""


@dataclass(frozen=True)
class Problem:
    """What is to be solved: the library, the rows as the formulation made them, the time."""

    columns: Any  # a Dictionary, or what an oracle of its own kind searches
    rows: Any  # as the master wants them; see formulations.py
    deadline: Deadline = NO_LIMIT
    inner_products: Any = None  # of the columns, for masters that penalise in the RKHS


@dataclass(frozen=True)
class Fit:
    """A master's solution over the columns it has."""

    coef: FloatArray  # (k,); (k, q) where q outputs share the columns
    bias: Any  # float; (q,)
    decision: FloatArray  # (n,), the model at the training rows; (n, q)
    weights: FloatArray  # (n,) or (n, q), signed: what the oracle correlates columns with
    objective: float
    settled: bool = True  # False while a master is still tightening
    level: float = 0.0  # the variable all rows share, where the formulation has one
    errors: BoolArray | None = None  # (n,), the rows with a positive slack; None: not known
    loose: float | None = None  # the relative gap its solver had to leave, where that is too much


@dataclass(frozen=True)
class Proposal:
    """Columns worth adding, best first; none where nothing has a positive price."""

    ids: IntArray  # (k,)
    hypotheses: Sequence[Hypothesis]
    values: FloatArray  # (n, k)
    price: float  # the best price of all columns looked at, at least 0
    bound: float | None  # a lower bound of the optimum over the whole library, if it was seen
    n_priced: int
    complete: bool = True  # whether the whole library was seen
    error_price: float | None = None  # the best price seen at error points, if those are known
    relative: bool = False  # an infinite library: price and bound are those the search found


class MasterRun(Protocol):
    """A master at work: sets the coefficients of the columns it was given."""

    @property
    def fit(self) -> Fit: ...

    def price(self, edges: FloatArray) -> FloatArray:
        """What each column of the dictionary is worth, from its edge; positive if worth adding."""

    def bound(self, edges: FloatArray) -> float | None:
        """Lower bound of the optimum over the whole library; None if there is no certificate.

        `edges` are those of `fit.weights`, also after an `extend` that ran out of time.
        """

    def extend(self, proposal: Proposal) -> None:
        """Take the columns in and re-solve from the warm state."""

    def finish(self) -> Fit:
        """The last fit in its final form, called once when the loop has ended."""

    def complete(self, fit: Fit) -> Fit:
        """An earlier fit in its final form, where it is kept in place of the last."""

    def cut_short(self, fit: Fit) -> Fit:
        """The same where time or Ctrl-C came before `finish`: nobody has judged that fit yet."""


class Master(Protocol):
    """Who sets the coefficients."""

    def start(self, problem: Problem) -> MasterRun: ...


class Search(Protocol):
    """An oracle at work: remembers what was taken."""

    def propose(self, run: MasterRun) -> Proposal:
        """Columns worth adding at the present fit; they count as taken."""

    def bound(self, run: MasterRun) -> float | None:
        """The bound at the present fit, from a look at the whole library."""


class Oracle(Protocol):
    """Who proposes columns."""

    def start(self, problem: Problem) -> Search: ...


class PathRun(MasterRun, Protocol):
    """A master at work whose slack prices can be changed on the way."""

    def scale_slack_costs(self, factor: float) -> None:
        """Go on with slack prices of `factor` times the problem's."""

    def first_factor(self, edges: FloatArray) -> float:
        """The factor at which the first column becomes worth adding, from edges at factor 1."""


class PathMaster(Protocol):
    """A master that can follow a path of slack prices."""

    def start(self, problem: Problem) -> PathRun: ...


class PathSearch(Search, Protocol):
    """An oracle at work along a path."""

    def put_back(self, proposal: Proposal) -> None:
        """These columns were not taken after all; offer them again where they are worth it."""


class PathOracle(Protocol):
    """An oracle that can follow a path."""

    def start(self, problem: Problem) -> PathSearch: ...
