"""Rules for single fields of a saved part, and for several fields together.

Only what a prediction relies on is checked: consistent shapes, valid indices, trees without cycles.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kboost._rules import INTEGER, Rule, optional
from kboost.boosting.svm_ensemble import SVMEnsemble, SVMGroup
from kboost.columns.active import ActivePart
from kboost.columns.cell_tree import CellTree
from kboost.columns.cells import CellPart
from kboost.columns.halfspaces import HalfspacePart
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.core.rounds import DesignRound, Round
from kboost.kernels.base import Kernel
from kboost.kernels.folding import Folded, FoldedTerm, Monomial
from kboost.kernels.functions import SKLEARN_NAMES, PrecomputedPart
from kboost.kernels.transforms import MAX_KNOTS, Standardize, Transform
from kboost.kernels.views import View


def _array(dimensions: int, kinds: str, words: str) -> Rule:
    return Rule(
        words,
        lambda v: isinstance(v, np.ndarray) and v.ndim == dimensions and v.dtype.kind in kinds,
    )


def _instance(words: str, *kinds: type) -> Rule:
    return Rule(words, lambda v: isinstance(v, kinds))


def _tuple_of(words: str, kind: Any) -> Rule:
    return Rule(words, lambda v: isinstance(v, tuple) and all(isinstance(item, kind) for item in v))


def _is_dense(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fi"


def _is_number(value: Any) -> bool:
    if isinstance(value, Integral):
        return INTEGER.holds(value) and abs(int(value)) < _LARGEST
    return isinstance(value, Real)


_LARGEST = 1 << 53  # integers up to here are exact in float64
_ROUNDS = 1 << 16  # rounds without SVMs, at most
NUMBER = Rule("a number", _is_number)
FINITE = Rule("a finite number", lambda v: _is_number(v) and bool(np.isfinite(v)))
WHOLE = Rule("an integer", lambda v: INTEGER.holds(v) and _is_number(v))
DEGREE = Rule("a positive integer", lambda v: WHOLE.holds(v) and v >= 1)
TEXT = _instance("text", str)
ANY = Rule("anything", lambda v: True)
WIDTH = Rule("a number or a rule", lambda v: FINITE.holds(v) or isinstance(v, str))
VECTOR = _array(1, "f", "a vector")
ANY_VECTOR = _array(1, "iuf", "a vector of numbers")
TABLE = _array(2, "f", "a matrix")
TENSOR = _array(3, "f", "a tensor")
INDICES = _array(1, "iu", "a vector of indices")
EXPONENTS = _array(1, "i", "a vector of integers")
INDEX_PAIRS = _array(2, "iu", "pairs of indices")
POINTS = Rule("rows", lambda v: issparse(v) or _is_dense(v))
KERNEL = _instance("a kernel", Kernel)
KERNELS = _tuple_of("a tuple of kernels", Kernel)
VIEW = _instance("a view", View)
TRANSFORM = optional(_instance("a transform", Transform))
COLUMNS = optional(_tuple_of("a tuple of names or indices", (str, Integral)))
FEATURE_INDICES = optional(_tuple_of("a tuple of indices", Integral))
ON = Rule("a transform, or its name", lambda v: isinstance(v, str) or TRANSFORM.holds(v))
VIEWED = {"columns": COLUMNS, "on": ON}
PARTS = _tuple_of("a tuple of parts", (KernelPart, ActivePart, HalfspacePart, CellPart))
ONE_FOLDED = _instance("folded terms", Folded)
ROUND = _instance("a round", Round, DesignRound)
FOLDED_TERMS = _tuple_of("a tuple of terms", FoldedTerm)
MONOMIAL = _instance("a monomial", Monomial)
TREE = _instance("a tree", CellTree)
LIST = _instance("a list", list)
SKLEARN_KERNEL = Rule("a kernel's name", lambda v: isinstance(v, str) and v in SKLEARN_NAMES)
NUMBERS = Rule(
    "numbers by name",
    lambda v: isinstance(v, dict) and all(isinstance(k, str) and NUMBER.holds(v[k]) for k in v),
)


def ranks_fit(instance: Any) -> bool:
    """Every feature has knots, no more than a fit gives it, and the arrays have their number."""
    starts = instance.starts
    return (
        len(starts) >= 1
        and starts[0] == 0
        and bool((starts[1:] > starts[:-1]).all())
        and bool((starts[1:] - starts[:-1] <= MAX_KNOTS).all())
        and starts[-1] == len(instance.values) == len(instance.ranks)
        and len(instance.scale) == len(starts) - 1
    )


def kernel_part_fits(instance: Any) -> bool:
    """Centres and coefficients are consistent and finite."""
    same = instance.centers.shape[0] == len(instance.coef) == len(instance.indices)
    return bool(same) and are_finite(instance.centers, instance.coef)


def are_finite(*arrays: Any) -> bool:
    """Whether all numbers of arrays and sparse matrices are finite."""
    return all(bool(np.isfinite(getattr(a, "data", a) if issparse(a) else a).all()) for a in arrays)


def kernel_part(instance: Any) -> KernelPart:
    """The part with these fields; what is folded follows from them."""
    return KernelPart(instance.kernel, instance.centers, instance.coef, instance.indices)


def tree_fits(instance: Any) -> bool:
    """Children come after their parents; leaves have indices of cells."""
    n = len(instance.feature)
    if not (n and len(instance.threshold) == n and instance.children.shape == (n, 2)):
        return False
    leaf = instance.feature < 0
    inner = instance.children[~leaf]
    after = np.arange(n)[~leaf][:, None]
    cells = instance.children[leaf]
    return bool(
        (inner > after).all()
        and (inner < n).all()
        and (cells >= 0).all()
        and (cells < leaf.sum()).all()
    )


def cells_fit(instance: Any) -> bool:
    """The centres are divided among the cells of the tree."""
    starts = instance.starts
    return (
        instance.centers.shape[0] == len(instance.coef)
        and len(starts) == instance.tree.n_cells + 1
        and starts[0] == 0
        and bool((starts[1:] >= starts[:-1]).all())
        and starts[-1] == len(instance.coef)
        and are_finite(instance.centers, instance.coef)
    )


def settings_hold(instance: Any) -> bool:
    """Settings raise for values that break their rules."""
    instance.__post_init__()
    return True


def outputs_fit(instance: Any) -> bool:
    """All parts have as many outputs as the bias, which is finite, and none is there twice."""
    return (
        are_finite(instance.bias)
        and all(part.coef.shape[1] == len(instance.bias) for part in instance.parts)
        and len(set(map(id, instance.parts))) == len(instance.parts)
    )


def svm_group_fits(instance: Any) -> bool:
    """The shapes of SVMs, their support and their rounds agree."""
    m = len(instance.bias)
    return bool(
        instance.coef.shape == (len(instance.support), m)
        and len(instance.rounds) == len(instance.votes) == m
        and instance.output >= 0
        and instance.kernel >= 0
        and (instance.support >= 0).all()
        and (instance.rounds >= 0).all()
        and (instance.folded is None or _outputs_of(instance.folded) == {m})
    )


def svm_ensemble_fits(instance: Any) -> bool:
    """The kernels, centres and rounds of the SVMs exist, and rounds are not many more than SVMs."""
    counts = instance.n_rounds
    return (
        all(isinstance(kernel, Kernel) for kernel in instance.kernels)
        and all(WHOLE.holds(count) and count >= 0 for count in counts)
        and all(isinstance(group, SVMGroup) for group in instance.groups)
        and sum(counts) <= _ROUNDS + sum(len(group.rounds) for group in instance.groups)
        and are_finite(instance.centers)
        and all(
            group.output < len(counts)
            and group.kernel < len(instance.kernels)
            and (group.support < instance.centers.shape[0]).all()
            and (group.rounds < counts[group.output]).all()
            for group in instance.groups
        )
    )


def model_sees(model: AdditiveModel | SVMEnsemble, d: int) -> bool:
    """Whether all parts of a model accept rows of d features."""
    if isinstance(model, SVMEnsemble):
        return _ensemble_sees(model, d)
    return all(_part_fits(part, d) for part in model.parts)


def _ensemble_sees(model: SVMEnsemble, d: int) -> bool:
    folded = [group.folded for group in model.groups if group.folded is not None]
    return all(_kernel_accepts(kernel, model.centers, d) for kernel in model.kernels) and all(
        _term_accepts(term, d) for each in folded for term in each.terms
    )


def _part_fits(part: Any, d: int) -> bool:
    if isinstance(part, HalfspacePart):
        return bool(_n_viewed(part.view, d) == part.directions.shape[1])
    if isinstance(part, ActivePart):
        return _n_viewed(part.view, d) is not None and bool(part.centers.shape[1] == d)
    if isinstance(part, CellPart) and not (part.tree.feature < d).all():
        return False
    terms = [term for folded in getattr(part, "folded", ()) for term in folded.terms]
    accepts_terms = all(_term_accepts(term, d) for term in terms)
    return _kernel_accepts(part.kernel, part.centers, d) and accepts_terms


def _kernel_accepts(kernel: Kernel, centers: Any, d: int) -> bool:
    """Whether a kernel accepts rows of d features, and the centres."""
    kinds = [pairing.kind for pairing in kernel.pairings]
    precomputed = [kind for kind in kinds if isinstance(kind, PrecomputedPart)]
    if precomputed:
        inside = all(kind.width > 0 and 0 <= kind.part < d // kind.width for kind in precomputed)
        alone = len(precomputed) == len(kinds) and bool(centers.shape[1] == 1)
        return inside and alone and _are_places(centers, min(kind.width for kind in precomputed))
    views = [pairing.view for pairing in kernel.pairings]
    return (
        bool(centers.shape[1] == d)
        and all(_n_viewed(view, d) is not None for view in views)
        and (not issparse(centers) or all(map(_stays_sparse, views)))
    )


def _are_places(centers: Any, width: int) -> bool:
    """Whether the centres of precomputed kernels are columns of a matrix of that width."""
    values = centers.data if issparse(centers) else centers
    return bool((values >= 0).all() and (values < width).all() and (values % 1 == 0).all())


def _stays_sparse(view: View) -> bool:
    """Whether sparse rows need no memory for zeros; no fit has others."""
    transform = view.transform
    return transform is None or (isinstance(transform, Standardize) and not transform.shift.any())


def _outputs_of(folded: Folded) -> set[int]:
    return {term.tensor.shape[1] for term in folded.terms}


def _n_viewed(view: View, d: int) -> int | None:
    """Number of features that a view selects from d features; None if it does not fit them."""
    if view.columns is not None:
        if not all(-d <= column < d for column in view.columns):
            return None
        d = len(view.columns)
    return d if view.transform is None or view.transform.n_features == d else None


def _term_accepts(term: FoldedTerm, d: int) -> bool:
    n_viewed = _n_viewed(term.monomial.view, d)
    if n_viewed is None:
        return False
    D = n_viewed + int(term.monomial.coef0 > 0)
    last = (1, D, D * (D + 1) // 2)[term.monomial.degree - 1]
    return bool(term.tensor.shape[0] == D and term.tensor.shape[2] == last)


def same_length(*names: str) -> Callable[[Any], bool]:
    """Whether these fields have the same length."""
    return lambda instance: len({len(getattr(instance, name)) for name in names}) == 1
