"""A model comes back from its file as it was, to the last bit."""

import dataclasses

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import kboost
from kboost import KernelBoostClassifier, SparseKernelRegressor, load_model, save_model
from kboost.kernels import Gaussian
from kboost.persistence import registry
from tests.fitted import (
    FRAME,
    MODELS,
    SIGN,
    VALUE,
    X,
    answers,
    fitted,
    one_of_each,
    public_estimators,
    rows_of,
)  # fmt: skip
from tests.persistence.equality import same


def back(model, folder):
    save_model(model, folder / "model.kboost")
    return load_model(folder / "model.kboost")


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back_as_it_was(name, tmp_path):
    model = fitted(name)
    again = back(model, tmp_path)
    same(model, again)
    same(answers(model, rows_of(name)), answers(again, rows_of(name)))
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()


def test_a_stream_goes_on_after_a_file(tmp_path):
    model = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1).partial_fit(X[:30], VALUE[:30])
    again = back(model, tmp_path)
    model.partial_fit(X[30:], VALUE[30:])
    again.partial_fit(X[30:], VALUE[30:])
    same(model.predict(X), again.predict(X))


def test_what_was_one_object_stays_one(tmp_path):
    again = back(fitted("boost"), tmp_path)
    views = {id(kernel.on) for kernel in again.kernels_ if repr(kernel.on).startswith("<Stand")}
    assert len(views) == 1


def test_an_estimator_of_dask_comes_back_without_its_client(tmp_path):
    dask = pytest.importorskip("kboost.dask")
    local = fitted("sparse")
    model = dask.DaskSparseKernelRegressor(**local.get_params(deep=False))
    vars(model).update({k: v for k, v in vars(local).items() if k.endswith("_") or k[0] == "_"})
    model.client = object()
    again = back(model, tmp_path)
    assert again.client is None
    same(again.to_local().predict(X), local.predict(X))


def test_every_public_estimator_is_in_the_registry():
    dask = pytest.importorskip("kboost.dask")
    public = public_estimators() | {getattr(dask, name) for name in dask.__all__}
    missing = {cls.__name__ for cls in public if registry.entry_of(cls) is None}
    assert not missing, f"add these to ESTIMATORS in kboost/persistence/registry.py: {missing}"
    assert len(one_of_each()) == len(public_estimators())
    assert {f"{cls.__module__}.{cls.__name__}" for cls in public} <= set(kboost.SKOPS_TRUSTED)


def test_entries_name_their_classes_and_fields():
    for name, entry in registry.ENTRIES.items():
        assert registry.entry_of(entry.cls) is entry
        if dataclasses.is_dataclass(entry.cls):
            fields = [field.name for field in dataclasses.fields(entry.cls)]
            assert set(fields) == set(entry.rules), name


def test_a_function_of_the_users_is_refused(tmp_path):
    model = KernelBoostClassifier([lambda A, B: A @ B.T], C=1.0).fit(X, SIGN)
    with pytest.raises(
        ValueError, match=r"^model.kernels cannot be saved: files contain no code; got the function"
    ):
        save_model(model, tmp_path / "model.kboost")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [{1}, 1j, b"bytes", np.array([1j]), np.array(["2020"], "M8[D]")])
def test_what_files_do_not_hold_is_refused(value, tmp_path):
    model = KernelBoostClassifier([Gaussian(1.0)], C=1.0).fit(X, SIGN)
    model.odd_ = [value]
    with pytest.raises(ValueError, match=r"^model.odd_ cannot be saved"):
        save_model(model, tmp_path / "model.kboost")
    model.odd_ = model.__dict__
    with pytest.raises(ValueError, match="must not contain itself"):
        save_model(model, tmp_path / "model.kboost")


def test_only_fitted_estimators_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(KernelBoostClassifier(), tmp_path / "model.kboost")
    with pytest.raises(ValueError, match=r"^model must be an estimator of kboost"):
        save_model({"coef_": 1}, tmp_path / "model.kboost")
    with pytest.raises(OSError, match="nowhere"):
        save_model(fitted("boost"), tmp_path / "nowhere" / "model.kboost")


def test_requests_and_callbacks_are_left_out(tmp_path):
    model = KernelBoostClassifier([Gaussian(1.0)], C=1.0).fit(X, SIGN)
    model._metadata_request = model._skl_callbacks = print  # as scikit-learn would
    again = back(model, tmp_path)
    assert "_metadata_request" not in vars(again)
    assert "_skl_callbacks" not in vars(again)


def test_saving_again_replaces_the_file_whole(tmp_path):
    path = tmp_path / "model.kboost"
    save_model(fitted("boost"), path)
    bad = KernelBoostClassifier([lambda A, B: A @ B.T], C=1.0).fit(X, SIGN)
    with pytest.raises(ValueError, match="function"):
        save_model(bad, path)
    same(load_model(str(path)).predict(X), fitted("boost").predict(X))
    assert list(tmp_path.iterdir()) == [path]


def test_names_of_features_are_checked_after_loading(tmp_path):
    again = back(fitted("boost names of features"), tmp_path)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(FRAME.rename(columns={"one": "other"}))
