"""The contracts between the parts of column generation, and the values they exchange.

The master sends `Fit.weights`, one signed number per row, to the oracle; the oracle asks the master
for prices. There are two ways to price, and an oracle states which one it needs:

    EdgePricer     prices every column of a library from its edge `h_j' weights`
    ColumnPricer   prices given columns from their values

Parts are frozen dataclasses of hyper-parameters; `start` returns an object with the state of one
fit: a run (master) or a search (oracle). `core/base_run.py` has defaults for runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.deadline import NO_LIMIT, Deadline

PriceRule: TypeAlias = Literal["boost", "mp", "full"]

ColumnsT_co = TypeVar("ColumnsT_co", covariant=True)
RowsT_co = TypeVar("RowsT_co", covariant=True)
RunT_co = TypeVar("RunT_co", covariant=True)
RunT_contra = TypeVar("RunT_contra", contravariant=True)


class Hypothesis(Protocol):
    """A function `h(x)` of one row; its family evaluates several members together."""

    @property
    def family(self) -> Family: ...


class Part(Protocol):
    """Hypotheses of one family with their coefficients, ready to predict."""

    @property
    def coef(self) -> FloatArray: ...  # (m, n_outputs)

    def __call__(self, X: Any) -> FloatArray: ...  # (n, n_outputs)


class Family(Hashable, Protocol):
    """What hypotheses of a kind share, for example a kernel."""

    def columns(self, members: Sequence[Any], X: Any) -> FloatArray:
        """Values of the members at the rows of X, (n, m)."""

    def combine(self, members: Sequence[Any], coef: FloatArray) -> Part:
        """The sum of the members with coefficients (m, n_outputs) as one part."""


class Dictionary(Protocol):
    """A finite library: numbered columns, computed in blocks and never all in memory."""

    @property
    def n_columns(self) -> int: ...

    @property
    def rms(self) -> FloatArray: ...  # (n_columns,), root mean squares; 0: never offered

    @property
    def strata(self) -> Sequence[slice]: ...  # groups of columns in order of priority

    def edges(self, weights: FloatArray, ids: IntArray | None = None) -> FloatArray:
        """`h_j' weights` of every column, (n_columns,), or of the columns `ids`, (len(ids),)."""

    def centered_at(self, rows: BoolArray) -> BoolArray | None:
        """Which columns are centred at one of the rows, (n_columns,); None if unknown."""

    def values(self, ids: IntArray, *, keep: bool = True) -> FloatArray:
        """The columns `ids` at the training rows, (n, len(ids)); `keep=False`: do not cache."""

    def hypotheses(self, ids: IntArray) -> Sequence[Hypothesis]:
        """The columns `ids` as functions of a row."""


@dataclass(frozen=True)
class Problem(Generic[ColumnsT_co, RowsT_co]):
    """The library, the rows of the formulation, and the deadline.

    `columns` is a `Dictionary`, or the library of an oracle that searches an infinite one.
    `rows` is what the master requires; see formulations.py.
    """

    columns: ColumnsT_co
    rows: RowsT_co
    deadline: Deadline = NO_LIMIT


@dataclass(frozen=True)
class Fit:
    """A master's solution over the columns added so far."""

    coef: FloatArray  # (k,); (k, q) for q outputs that share the columns
    bias: Any  # float; (q,)
    decision: FloatArray  # (n,) or (n, q), the model at the training rows
    weights: FloatArray  # (n,) or (n, q), signed: what the oracle correlates columns with
    objective: float
    converged: bool = True  # False while the master still solves an easier problem
    margin_width: float = 0.0  # the variable shared by all rows, if the formulation has one
    errors: BoolArray | None = None  # (n,), rows with a positive slack; None: unknown
    solver_gap: float | None = None  # relative gap, if the solver could not close it


@dataclass(frozen=True)
class Proposal:
    """Columns to add, best first; empty if no column has a positive price."""

    ids: IntArray  # (k,)
    hypotheses: Sequence[Hypothesis]
    values: FloatArray  # (n, k)
    price: float  # the best price of all columns priced, at least 0
    bound: float | None  # lower bound of the optimum over the library; None if not all was priced
    n_priced: int
    complete: bool = True  # whether the whole library was priced
    error_price: float | None = None  # best price of columns centred at error points, if known
    relative: bool = False  # infinite library: price and bound hold for the points searched


class MasterRun(Protocol):
    """The state of a master during one fit, as the loop needs it."""

    @property
    def fit(self) -> Fit: ...

    def extend(self, proposal: Proposal) -> None:
        """Add the columns and solve again from the last solution."""

    def finish(self) -> Fit:
        """The last fit in its final form; called once after the last step."""

    def complete(self, fit: Fit) -> Fit:
        """The final form of an earlier fit that is kept instead of the last one."""

    def cut_short(self, fit: Fit) -> Fit:
        """The final form of the last fit when time ran out, or Ctrl-C, before `finish`."""


class EdgePricer(MasterRun, Protocol):
    """A run that prices the columns of a library from their edges."""

    def price(self, edges: FloatArray) -> FloatArray:
        """The price of each column; positive if adding it lowers the objective."""

    def bound(self, edges: FloatArray) -> float | None:
        """Lower bound of the optimum over the whole library; None without a certificate.

        `edges` are those of `fit.weights`, also after an `extend` that ran out of time.
        """


class ColumnPricer(MasterRun, Protocol):
    """A run that prices columns from their values."""

    def price_of(self, ids: IntArray, values: FloatArray, rule: PriceRule) -> FloatArray:
        """The price of the columns `ids` with values (n, k), (k,)."""


class Master(Protocol[RunT_co]):
    """Sets the coefficients."""

    def start(self, problem: Problem[Any, Any]) -> RunT_co: ...


class Search(Protocol[RunT_contra]):
    """The state of an oracle during one fit: which columns are taken."""

    def propose(self, run: RunT_contra) -> Proposal:
        """Columns to add to the present fit; they count as taken."""

    def bound(self, run: RunT_contra) -> float | None:
        """The bound at the present fit, from the edges of the whole library."""


@runtime_checkable
class ResumableSearch(Protocol):
    """A search whose proposals can be repeated from the numbers of their columns."""

    @property
    def n_columns(self) -> int: ...  # of the library

    def proposed(self, ids: IntArray) -> Proposal:
        """Earlier columns as a proposal, with a price of 0; they count as taken."""

    def position(self) -> Any:
        """What the next proposal depends on besides the fit and the columns taken."""

    def resume(self, position: Any) -> None:
        """Continue from a position, with the columns of then."""


class Oracle(Protocol[RunT_contra]):
    """Proposes columns to runs of a kind."""

    def start(self, problem: Problem[Any, Any]) -> Search[RunT_contra]: ...


class PathRun(EdgePricer, Protocol):
    """A run whose slack costs can change between steps."""

    def scale_slack_costs(self, factor: float) -> None:
        """Continue with `factor` times the slack costs of the problem."""

    def first_factor(self, edges: FloatArray) -> float:
        """The least factor with a column of positive price, from edges at factor 1."""


class PathMaster(Protocol):
    """A master that can follow a path of slack costs."""

    def start(self, problem: Problem[Any, Any]) -> PathRun: ...


class PathSearch(Search[EdgePricer], Protocol):
    """A search that can follow a path of slack costs."""

    def restore(self, proposal: Proposal) -> None:
        """Make columns available again that were proposed but not added."""


class PathOracle(Protocol):
    """An oracle that can follow a path of slack costs."""

    def start(self, problem: Problem[Any, Any]) -> PathSearch: ...
