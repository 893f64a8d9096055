"""What a field of a saved part must be, and what must hold of several together.

Only what a prediction relies on is asked: shapes that agree, indices that stay inside, trees that
end. What passes may still be a bad model, as any file may be.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kboost._rules import BOOLEAN, INTEGER, Rule, optional
from kboost.boosting.svm_ensemble import SVMEnsemble, SVMGroup
from kboost.columns.active import ActivePart
from kboost.columns.cells import CellPart, CellTree
from kboost.columns.halfspaces import HalfspacePart
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.core.rounds import Round
from kboost.kernels.base import Kernel
from kboost.kernels.folding import Folded, FoldedTerm, Monomial
from kboost.kernels.functions import SKLEARN_NAMES, PrecomputedPart
from kboost.kernels.transforms import Transform
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


NUMBER = Rule("a number", lambda v: isinstance(v, Real) and not BOOLEAN.holds(v))
WHOLE = INTEGER
TEXT = _instance("text", str)
ANY = Rule("anything", lambda v: True)
WIDTH = Rule("a number or a rule", lambda v: NUMBER.holds(v) or isinstance(v, str))
VECTOR = _array(1, "f", "a vector")
ANY_VECTOR = _array(1, "iuf", "a vector of numbers")
TABLE = _array(2, "f", "a matrix")
TENSOR = _array(3, "f", "a tensor")
INDICES = _array(1, "iu", "a vector of indices")
INDEX_PAIRS = _array(2, "iu", "pairs of indices")
POINTS = Rule("rows", lambda v: issparse(v) or _is_dense(v))
KERNEL = _instance("a kernel", Kernel)
ONE_KERNEL = optional(KERNEL)
KERNELS = _tuple_of("a tuple of kernels", Kernel)
VIEW = _instance("a view", View)
TRANSFORM = optional(_instance("a transform", Transform))
COLUMNS = optional(_tuple_of("a tuple of names or indices", (str, Integral)))
SEEN_COLUMNS = optional(_tuple_of("a tuple of indices", Integral))
ON = Rule("a transform, or its name", lambda v: isinstance(v, str) or TRANSFORM.holds(v))
VIEWED = {"columns": COLUMNS, "on": ON}
PARTS = _tuple_of("a tuple of parts", (KernelPart, ActivePart, HalfspacePart, CellPart))
FOLDED = _tuple_of("a tuple of folded terms", Folded)
ONE_FOLDED = _instance("folded terms", Folded)
ROUND = _instance("a round", Round)
FOLDED_TERMS = _tuple_of("a tuple of terms", FoldedTerm)
MONOMIAL = _instance("a monomial", Monomial)
TREE = _instance("a tree", CellTree)
LIST = _instance("a list", list)
SKLEARN_KERNEL = Rule("a kernel's name", lambda v: isinstance(v, str) and v in SKLEARN_NAMES)
NUMBERS = Rule(
    "numbers by name",
    lambda v: isinstance(v, dict) and all(isinstance(k, str) and NUMBER.holds(v[k]) for k in v),
)


def ranks_fit(made: Any) -> bool:
    """Every feature has knots, and they fill the two arrays."""
    starts = made.starts
    return (
        len(starts) >= 1
        and starts[0] == 0
        and bool((np.diff(starts) >= 1).all())
        and starts[-1] == len(made.values) == len(made.ranks)
    )


def kernel_part_fits(made: Any) -> bool:
    """Centres, coefficients and folded terms belong together."""
    m = len(made.coef)
    return bool(
        made.centers.shape[0] == m == len(made.indices)
        and (made.rest is not None or len(made.folded) > 0)
        and all(
            term.tensor.shape[1] == made.coef.shape[1] and not folded.is_vector
            for folded in made.folded
            for term in folded.terms
        )
    )


def tree_ends(made: Any) -> bool:
    """Children stand after their parents; leaves have the numbers of cells."""
    n = len(made.feature)
    if not (n and len(made.threshold) == n and made.children.shape == (n, 2)):
        return False
    leaf = made.feature < 0
    inner = made.children[~leaf]
    after = np.arange(n)[~leaf][:, None]
    cells = made.children[leaf]
    return bool(
        (inner > after).all()
        and (inner < n).all()
        and (cells >= 0).all()
        and (cells < leaf.sum()).all()
    )


def cells_fit(made: Any) -> bool:
    """The centres are dealt to the cells of the tree."""
    starts = made.starts
    return (
        made.centers.shape[0] == len(made.coef)
        and len(starts) == made.tree.n_cells + 1
        and starts[0] == 0
        and bool((np.diff(starts) >= 0).all())
        and starts[-1] == len(made.coef)
    )


def settings_hold(made: Any) -> bool:
    """Settings raise for values that break their rules."""
    made.__post_init__()
    return True


def outputs_fit(made: Any) -> bool:
    """All parts have the outputs of the bias."""
    return all(part.coef.shape[1] == len(made.bias) for part in made.parts)


def bundle_fits(made: Any) -> bool:
    """Machines, their support and their rounds belong together."""
    m = len(made.bias)
    return bool(
        made.coef.shape == (len(made.support), m)
        and len(made.rounds) == len(made.votes) == m
        and made.task >= 0
        and made.kernel >= 0
        and (made.support >= 0).all()
        and (made.rounds >= 0).all()
        and (made.folded is None or _outputs_of(made.folded) == {m})
    )


def committees_fit(made: Any) -> bool:
    """The machines have kernels, centres and rounds that are there."""
    counts = made.n_rounds
    return (
        all(isinstance(kernel, Kernel) for kernel in made.kernels)
        and all(INTEGER.holds(count) and 0 <= count < 1 << 32 for count in counts)
        and all(isinstance(bundle, SVMGroup) for bundle in made.bundles)
        and all(
            bundle.task < len(counts)
            and bundle.kernel < len(made.kernels)
            and (bundle.support < made.centers.shape[0]).all()
            and (bundle.rounds < counts[bundle.task]).all()
            for bundle in made.bundles
        )
    )


def estimator_fits(made: Any) -> bool:
    """An estimator's model has its features and classes."""
    own = vars(made)
    model, d = own.get("_model"), own.get("n_features_in_")
    if model is None:
        return True
    if not (isinstance(model, AdditiveModel | SVMEnsemble) and INTEGER.holds(d)):
        return False
    if isinstance(model, SVMEnsemble):
        return _committees_see(model, d)
    classes, duels = own.get("classes_"), own.get("_binary_problems")
    if classes is not None:
        if not (isinstance(classes, np.ndarray) and classes.ndim == 1):
            return False
        expected = 1 if len(classes) == 2 else len(classes) if duels is None else len(duels)
        if expected != len(model.bias):
            return False
    return all(_part_fits(part, d) for part in model.parts)


def _committees_see(model: SVMEnsemble, d: int) -> bool:
    folded = [bundle.folded for bundle in model.bundles if bundle.folded is not None]
    return all(_sees(kernel, model.centers, d) for kernel in model.kernels) and all(
        _folds(term, d) for one in folded for term in one.terms
    )


def _part_fits(part: Any, d: int) -> bool:
    if isinstance(part, HalfspacePart):
        return bool(_seen(part.view, d) == part.directions.shape[1])
    if isinstance(part, ActivePart):
        return _seen(part.view, d) is not None and bool(part.centers.shape[1] == d)
    if isinstance(part, CellPart) and not (part.tree.feature < d).all():
        return False
    terms = [term for folded in getattr(part, "folded", ()) for term in folded.terms]
    return _sees(part.kernel, part.centers, d) and all(_folds(term, d) for term in terms)


def _sees(kernel: Kernel, centers: Any, d: int) -> bool:
    """Whether a kernel can look at rows of d features, and at the centres."""
    kinds = [pairing.kind for pairing in kernel.pairings]
    given = [kind for kind in kinds if isinstance(kind, PrecomputedPart)]
    if given:
        room = all(kind.width > 0 and 0 <= kind.part < d // kind.width for kind in given)
        return room and len(given) == len(kinds) and bool(centers.shape[1] == 1)
    views = [pairing.view for pairing in kernel.pairings]
    return bool(centers.shape[1] == d) and all(_seen(view, d) is not None for view in views)


def _outputs_of(folded: Folded) -> set[int]:
    return {term.tensor.shape[1] for term in folded.terms}


def _seen(view: View, d: int) -> int | None:
    """How many of d features a view shows, None where it does not fit them."""
    if view.columns is not None:
        if not all(-d <= column < d for column in view.columns):
            return None
        d = len(view.columns)
    return d if view.transform is None or view.transform.n_features == d else None


def _folds(term: FoldedTerm, d: int) -> bool:
    seen = _seen(term.monomial.view, d)
    if seen is None:
        return False
    D = seen + int(term.monomial.coef0 > 0)
    last = (1, D, D * (D + 1) // 2)[term.monomial.degree - 1]
    return bool(term.tensor.shape[0] == D and term.tensor.shape[2] == last)


def of_one_length(*names: str) -> Callable[[Any], bool]:
    """Whether these fields have as many entries, one as the other."""
    return lambda made: len({len(getattr(made, name)) for name in names}) == 1
