"""Numbers of a file that become sizes, indices or sums are checked before anything uses them."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix, issparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)

from kboost import SparseKernelRegressor, load_model, save_model
from kboost.export._pairs import dense
from kboost.kernels import Gaussian, Linear, Matern, Polynomial, Sigmoid
from kboost.kernels.functions import Precomputed
from kboost.kernels.transforms import Ranks, Standardize
from kboost.persistence.errors import FormatError
from kboost.persistence.preprocessing_rules import MAX_JOBS
from kboost.persistence.registry import entry_of
from tests.fitted import SIGN, VALUE, X, fitted

WORDS = np.array(["a", "b", "b", "c", "c", "c", "d", "e", "e", "e"], dtype=object)[:, None]
WORDS = np.hstack([WORDS, WORDS[::-1], np.where(WORDS == "a", "yes", "no")])
RARE = {"min_frequency": 2, "handle_unknown": "infrequent_if_exist"}


def remade(value, **changes):
    """The object as a file gives it back, with other values in some of its fields."""
    entry = entry_of(type(value))
    return entry.make({**entry.state(value), **changes})


def refused(value, words="are inconsistent", **changes):
    with pytest.raises(FormatError, match=words):
        remade(value, **changes)


# Kernels and sums --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2**53, True, None])
@pytest.mark.parametrize(
    ("kernel", "field"),
    [
        (Gaussian(0.5), "gamma"),
        (Matern(0.5, nu=1.5), "nu"),
        (Sigmoid(0.5), "coef0"),
        (Polynomial(2), "coef0"),
        (2.0 * Linear(), "scale"),
    ],
    ids=["gamma", "nu", "coef0 of a sigmoid", "coef0 of a power", "scale"],
)
def test_numbers_of_kernels_are_finite(kernel, field, bad):
    remade(kernel)
    refused(kernel, f"{field} of a {type(kernel).__name__} must be a .*number", **{field: bad})


@pytest.mark.parametrize("degree", [0, -1, 2**53, 2.0, True])
def test_degrees_are_positive_integers(degree):
    refused(Polynomial(2), "must be a positive integer", degree=degree)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["boost", "boost sparse rows", "sparse cells"])
def test_centres_and_coefficients_are_finite(name, bad):
    part = fitted(name)._model.parts[0]
    remade(part)
    centers = part.centers.copy()
    (centers.data if issparse(centers) else centers.reshape(-1))[0] = bad
    refused(part, centers=centers)
    refused(part, coef=np.full_like(part.coef, bad))


def test_the_bias_is_finite():
    model = fitted("boost")._model
    remade(model)
    refused(model, bias=np.array([np.nan]))


@pytest.mark.parametrize("starts", [[0, 70, 60], [0, 2**63, 60], [1, 30, 60], [0, 30, 61]])
def test_cells_begin_one_after_the_other(starts):
    """Differences of unsigned numbers would be positive."""
    part = fitted("sparse cells")._model.parts[0]
    middle = np.full(len(part.starts) - 3, starts[1])
    forged = np.array([starts[0], *middle, starts[1], starts[2]], dtype=np.uint64)
    refused(part, starts=forged)


@pytest.mark.parametrize("place", [-1.0, 60.0, 0.5])
def test_centres_of_precomputed_kernels_are_columns(place):
    model = copy(fitted("boost precomputed"))
    remade(model)
    forged = copy(model._model.parts[0])
    forged.centers = np.full(forged.centers.shape, place)
    others = (forged, *model._model.parts[1:])
    refused(model, _model=type(model._model)(others, model._model.bias))


def test_precomputed_kernels_stay_inside_the_matrix():
    model = fitted("boost precomputed")
    part = copy(model._model.parts[0])
    for kernel in (Precomputed(2, 60), Precomputed(-1, 60), Precomputed(0, 0)):
        part.kernel = kernel
        refused(model, _model=type(model._model)((part,), model._model.bias))


def test_sparse_centres_stay_sparse():
    """No fit shifts sparse rows: they would need memory for their zeros."""
    model, dense = fitted("boost sparse rows"), fitted("boost")
    shifted = copy(model._model.parts[0])
    shifted.kernel = dense._model.parts[0].kernel
    assert shifted.kernel.pairings[0].view.transform.shift.any()
    refused(model, _model=type(model._model)((shifted,), model._model.bias))


# Rounds of support vector machines ---------------------------------------------------------------


def test_rounds_are_not_many_more_than_machines():
    model = fitted("boosted SVMs")._model
    remade(model)
    remade(model, n_rounds=[1 << 16])
    refused(model, n_rounds=[1 << 17])
    refused(model, n_rounds=[-1])
    refused(model, n_rounds=[6.0])


def test_centres_of_machines_are_finite():
    model = fitted("boosted SVMs")._model
    refused(model, centers=np.full_like(model.centers, np.inf))


@pytest.mark.parametrize("name", ["mixtures learned", "boosted votes"])
@pytest.mark.parametrize("change", [{"positive": 3}, {"positive": -1}, {"negative": 3}])
def test_binary_problems_are_of_classes_that_exist(name, change):
    model = fitted(name)
    remade(model)
    first, *others = model._binary_problems
    refused(model, _binary_problems=[replace(first, **change), *others])
    refused(model, _binary_problems=others)
    refused(model, _binary_problems=[1, *others])


# Streams -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stream():
    kernels = [Gaussian(0.5), Linear()]
    return SparseKernelRegressor(kernels, ridge=0.1).partial_fit(X, VALUE)._stream


@pytest.mark.parametrize(
    "change",
    [
        lambda b: {"_buffer": b[:-1]},
        lambda b: {"_buffer": b.astype(np.float32)},
        lambda b: {"_buffer": np.asfortranarray(b)},
        lambda b: {"_size": len(b) + 1},
        lambda b: {"_size": -1},
    ],
    ids=["not square", "float32", "the other order", "too large", "negative"],
)
def test_factors_are_what_lapack_is_told(stream, change):
    factor = stream._factors[0]
    remade(factor)
    refused(factor, **change(factor._buffer))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {"_kinds": np.full_like(s._kinds, 2)},
        lambda s: {"_kinds": np.full_like(s._kinds, -1)},
        lambda s: {"_kinds": s._kinds[::-1] * 0},
        lambda s: {"_G": s._G[:-1]},
        lambda s: {"_G": np.full_like(s._G, np.nan)},
        lambda s: {"_b": s._b[:-1]},
        lambda s: {"_s": s._s[:-1]},
        lambda s: {"_sum": np.zeros(2)},
        lambda s: {"coef": s.coef[:-1]},
        lambda s: {"coef": np.full_like(s.coef, np.inf)},
        lambda s: {"bias": np.zeros(2)},
        lambda s: {"centers": s.centers[:1]},
        lambda s: {"centers": [s.centers[0][:-1], s.centers[1]]},
        lambda s: {"centers": [s.centers[0][:, :2], s.centers[1]]},
        lambda s: {"centers": [1, s.centers[1]]},
        lambda s: {"_factors": s._factors[::-1]},
        lambda s: {"_factors": [1, 2]},
    ],
    ids=[
        *("kernels beyond the last", "kernels before the first", "kernels of other counts"),
        *("sums of products", "sums that are no numbers", "right sides", "sums", "sums of targets"),
        *("coefficients", "infinite coefficients", "bias", "a basis too few"),
        *("a basis vector too few", "features", "no basis", "factors in another order"),
        "no factors",
    ],
)
def test_sums_have_a_row_per_basis_vector(stream, change):
    remade(stream)
    refused(stream, **change(stream))


# Transformers ------------------------------------------------------------------------------------

ENCODERS = {
    "plain": {},
    "first dropped": {"drop": "first"},
    "one of two dropped": {"drop": "if_binary"},
    "rare ones together": RARE,
    "rare ones together, first dropped": {**RARE, "drop": "first"},
    "few": {"max_categories": 3, "handle_unknown": "infrequent_if_exist"},
}


@pytest.mark.parametrize("name", ENCODERS)
def test_sound_encoders_are_accepted(name):
    encoder = OneHotEncoder(**ENCODERS[name]).fit(WORDS)
    again = remade(encoder).transform(WORDS)
    assert_array_equal(again.toarray(), encoder.transform(WORDS).toarray())


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("more", [10**9, -1])
def test_encoders_have_a_column_per_category(name, more):
    encoder = OneHotEncoder(**ENCODERS[name]).fit(WORDS)
    sizes = list(encoder._n_features_outs)
    refused(encoder, _n_features_outs=[sizes[0] + more, *sizes[1:]])
    refused(encoder, _n_features_outs=sizes[1:])
    refused(encoder, categories_=encoder.categories_[1:])
    refused(encoder, categories_=[each[None] for each in encoder.categories_])


@pytest.mark.parametrize("place", [-1, 5, 10**9, 0.5])
def test_dropped_categories_exist(place):
    encoder = OneHotEncoder(drop="first").fit(WORDS)
    dropped = np.array([place, 0, 0], dtype=object)
    refused(encoder, _drop_idx_after_grouping=dropped)
    refused(encoder, _drop_idx_after_grouping=dropped[1:])


@pytest.mark.parametrize("place", [-1, 4, 10**9])
def test_groups_of_rare_categories_follow_each_other(place):
    encoder = OneHotEncoder(**RARE).fit(WORDS)
    mappings = [copy(each) for each in encoder._default_to_infrequent_mappings]
    mappings[0][0] = place
    refused(encoder, _default_to_infrequent_mappings=mappings)
    refused(encoder, _default_to_infrequent_mappings=mappings[1:])


@pytest.mark.parametrize("place", [-1, 5, 10**9])
def test_rare_categories_exist(place):
    encoder = OneHotEncoder(**RARE).fit(WORDS)
    rare = [copy(each) for each in encoder._infrequent_indices]
    rare[0][0] = place
    refused(encoder, _infrequent_indices=rare)
    refused(encoder, _infrequent_indices=rare[1:])


POWERS = [
    {"degree": degree, "interaction_only": distinct, "include_bias": bias}
    for degree in (1, 2, 3, 5, (0, 2), (2, 3), (3, 3))
    for distinct in (False, True)
    for bias in (False, True)
]


@pytest.mark.parametrize("params", POWERS, ids=lambda params: "-".join(map(str, params.values())))
def test_sound_powers_are_accepted_and_forged_ones_are_not(params):
    powers = PolynomialFeatures(**params).fit(X)
    assert_array_equal(remade(powers).transform(X), powers.transform(X))
    for name in ("_n_out_full", "n_output_features_", "n_features_in_"):
        refused(powers, **{name: getattr(powers, name) + 1})
        refused(powers, **{name: 1 << 40})


def test_a_power_of_zero_is_a_column_of_ones():
    powers = remade(PolynomialFeatures(0).fit(X))
    assert_array_equal(powers.transform(X), np.ones((60, 1)))


def test_powers_that_fill_the_memory_are_refused():
    powers = PolynomialFeatures(2).fit(X)
    refused(powers, n_features_in_=10_000, _n_out_full=50_015_001, n_output_features_=50_015_001)
    refused(powers, _max_degree=1 << 10)
    refused(powers, _min_degree=-1)


TRANSFORMERS = [
    FeatureUnion([("scaled", StandardScaler())], n_jobs=2),
    ColumnTransformer([("scaled", StandardScaler(), [0])], n_jobs=-1),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("jobs", [MAX_JOBS + 1, -MAX_JOBS - 1, 10**9, 1.5, "all"])
def test_the_number_of_jobs_is_limited(transformer, jobs):
    with joblib.parallel_config("threading"):  # processes take seconds to start
        transformer.fit(X)
    remade(transformer)
    remade(transformer, n_jobs=MAX_JOBS)
    refused(transformer, n_jobs=jobs)


@pytest.mark.parametrize(
    "transformer",
    [
        KBinsDiscretizer(3, quantile_method="linear"),
        PolynomialFeatures(2, include_bias=False),
        QuantileTransformer(n_quantiles=20),
    ],
    ids=lambda t: type(t).__name__,
)
def test_a_file_with_a_transformer_is_read(transformer, tmp_path):
    model = make_pipeline(transformer, SparseKernelRegressor([Linear()], ridge=0.1)).fit(X, VALUE)
    save_model(model, tmp_path / "m.kboost")
    assert_array_equal(load_model(tmp_path / "m.kboost").predict(X), model.predict(X))


def test_a_file_with_a_forged_transformer_is_refused(tmp_path):
    model = make_pipeline(PolynomialFeatures(2), SparseKernelRegressor([Linear()], ridge=0.1))
    model.fit(X, SIGN)
    model[0].n_output_features_ = 10**9
    save_model(model, tmp_path / "m.kboost")
    with pytest.raises(ValueError, match=r"PolynomialFeatures are inconsistent\.$"):
        load_model(tmp_path / "m.kboost")


# Estimators --------------------------------------------------------------------------------------


def without(name, *attributes):
    """The state of a model as a file has it, without some attributes."""
    model = fitted(name)
    entry = entry_of(type(model))
    fields = {k: v for k, v in entry.state(model).items() if k not in attributes}
    with pytest.raises(FormatError, match="are inconsistent"):
        entry.make(fields)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("boost", "_model"),
        ("boost", "kernels_"),
        ("boost", "classes_"),
        ("boost", "calibration_"),
        ("boost", "n_columns_"),
        ("composite regressor", "_model"),
        ("novelty", "offset_"),
        ("sparse", "_flat"),
        ("boosted SVMs", "estimator_weights_"),
        ("boosted SVMs", "_binary_problems"),
        ("auto", "preparation_"),
        ("auto", "classes_"),
    ],
)
def test_fitted_estimators_have_what_their_methods_use(name, attribute):
    without(name, attribute)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("boost", {"n_jobs": "all"}),
        ("boost", {"kernels_": [Gaussian(0.5)]}),
        ("boost", {"columns_per_kernel_": {}}),
        ("boost", {"classes_": np.array([1])}),
        ("boost", {"classes_": np.array([1, "b"], dtype=object)}),
        ("boost", {"feature_names_in_": np.array(["a"], dtype=object)}),
        ("boost", {"_predict_dtype": "float16"}),
        ("novelty", {"offset_": np.nan}),
        ("sparse two targets", {"_flat": True}),
        ("mixtures learned", {"kernel_weights_": np.ones(3)}),
        ("boosted SVMs", {"estimator_weights_": np.ones(1)}),
        ("auto", {"n_jobs": 2**40}),
    ],
)
def test_attributes_of_estimators_fit_the_model(name, changes):
    refused(fitted(name), **changes)


def test_no_part_is_listed_twice():
    """A reference takes few bytes, and a part may take a millisecond for every row."""
    model = fitted("boost")._model
    refused(model, parts=(*model.parts, model.parts[0]))


def test_ranks_have_the_knots_that_a_fit_gives():
    """The knots of all features are one table, as wide as the most knots of one."""
    ranks = Ranks.fit(X, np.ones(len(X)))
    remade(ranks)
    extra = np.linspace(0.0, 1.0, 300)
    many = {"values": extra, "ranks": extra, "starts": np.array([0, 300]), "scale": np.ones(1)}
    refused(ranks, **many)


def test_exponents_are_signed():
    """LDEXP does not take unsigned ones."""
    standard = Standardize.fit(X, np.ones(len(X)))
    unsigned = np.abs(standard.exponent).astype(np.uint64)
    refused(standard, "must be a vector of integers", exponent=unsigned)


@pytest.mark.parametrize("changes", [{"mean_": np.ones(3)}, {"scale_": None}, {"mean_": 1.0}])
def test_arrays_of_transformers_have_a_number_for_each_feature(changes):
    refused(StandardScaler().fit(X), **changes)


@pytest.mark.parametrize("steps", [(), [()], [("a", 1)], [(1, StandardScaler())], [("a", None, 2)]])
def test_steps_of_a_pipeline_are_named_transformers(steps):
    refused(make_pipeline(StandardScaler()), steps=steps)


def test_no_step_is_repeated():
    """Each repetition would be work for nothing that a file has to hold."""
    refused(make_pipeline(StandardScaler()), steps=[("a", StandardScaler())] * 2)
    columns = ColumnTransformer([("a", StandardScaler(), [0]), ("b", StandardScaler(), [1])])
    columns.fit(X)
    scaler = columns.transformers_[0][1]
    refused(columns, transformers_=[(name, scaler, [0]) for name in "abc"])


def test_sparse_centres_that_no_graph_holds_are_not_exported():
    wide = csr_matrix((2, 2**27))
    with pytest.raises(ValueError, match=r"at most 134217728 numbers.*; got 2 x 134217728\."):
        dense(wide)
