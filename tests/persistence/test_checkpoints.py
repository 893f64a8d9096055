"""A fit that was killed continues from its checkpoint, and ends with the same model."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import kboost
from kboost.core.checkpoint import SavedRun
from kboost.exceptions import SolverError
from kboost.kernels import Gaussian
from kboost.masters.qp import QPRun
from kboost.persistence import checkpoints
from kboost.selection import c_path
from kboost.settings import ALD, Cells, Joint

RNG = np.random.default_rng(0)
X = RNG.normal(size=(36, 2))
LABELS = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2])
TARGET = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=36)
GAUSSIAN = [Gaussian(0.5)]
FITS = {
    "linear programs in threads": (
        kboost.KernelBoostClassifier(GAUSSIAN, C=1.0, tol=1e-9, n_jobs=2),
        LABELS,
    ),
    "path over C": (kboost.KernelBoostRegressor(GAUSSIAN, C="auto"), TARGET),
    "joint": (
        kboost.SparseKernelRegressor(
            GAUSSIAN, ridge=0.1, max_columns=30, update=Joint(columns_per_step=5)
        ),
        TARGET,
    ),
    "one by one": (
        kboost.SparseKernelRegressor(GAUSSIAN, ridge=0.1, update="full", max_columns=8),
        TARGET,
    ),
    "cells": (kboost.SparseKernelRegressor(GAUSSIAN, ridge=0.1, cells=Cells(size=10)), TARGET),
    "boosting": (kboost.MKBoostClassifier(GAUSSIAN, max_iter=5), LABELS),
    "door": (kboost.AutoKernelRegressor(max_seconds=None), TARGET),
}


class KilledError(BaseException):
    """The end of the process: nothing is written any more."""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_SHARE", 0)
    monkeypatch.setattr(c_path, "MAX_VALUES", 4)
    return tmp_path / "fit.ckpt"


def fit(model, y, path, monkeypatch, writes=10**6):
    """A fit with a checkpoint, killed after so many writes; the model, and the writes it made."""
    made, real = [], checkpoints.container.write

    def write(*arguments):
        if len(made) == writes:
            raise KilledError
        made.append(real(*arguments))

    with monkeypatch.context() as patch, kboost.checkpoint(path, every=0):
        patch.setattr(checkpoints.container, "write", write)
        return clone(model).fit(X, y), len(made)


def values(model):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.parametrize("name", FITS)
def test_a_killed_fit_continues(name, path, monkeypatch):
    model, y = FITS[name]
    whole, n_writes = fit(model, y, path, monkeypatch)
    assert n_writes > 4
    assert not path.exists()
    with pytest.raises(KilledError):
        fit(model, y, path, monkeypatch, writes=n_writes // 2)
    again, n_again = fit(model, y, path, monkeypatch)
    assert n_again < n_writes
    np.testing.assert_allclose(values(again), values(whole), rtol=1e-6, atol=1e-9)
    assert not path.exists()


@pytest.mark.parametrize("name", ["linear programs in threads", "boosting", "one by one"])
def test_a_fit_that_ends_again_before_it_writes_continues_as_well(name, path, monkeypatch):
    """The second process makes steps that it does not write, and the third makes them again."""
    model, y = FITS[name]
    whole, n_writes = fit(model, y, path, monkeypatch)
    with pytest.raises(KilledError):
        fit(model, y, path, monkeypatch, writes=n_writes // 2)
    steps = []

    def step(self):
        steps.append(self)
        if len(steps) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SavedRun, "step", step)
        with pytest.raises(KeyboardInterrupt), kboost.checkpoint(path):
            clone(model).fit(X, y)
    again, _ = fit(model, y, path, monkeypatch)
    np.testing.assert_allclose(values(again), values(whole), rtol=1e-6, atol=1e-9)
    assert again.n_iter_ == whole.n_iter_


def test_a_fit_that_was_refused_is_in_nobodys_way(path):
    with kboost.checkpoint(path):
        with pytest.raises(ValueError, match="n_jobs"):
            kboost.KernelBoostRegressor(GAUSSIAN, C=1.0, n_jobs="x").fit(X, TARGET)
        kboost.KernelBoostRegressor(GAUSSIAN, C=1.0).fit(X, TARGET)


def test_the_fits_of_a_cross_validation_continue(path, monkeypatch):
    model = kboost.KernelBoostRegressor(GAUSSIAN, C=1.0)
    steps = []

    def step(self):
        steps.append(self)
        if len(steps) == limit:
            raise KilledError
        plain(self)

    plain, limit = SavedRun.step, 10**6
    monkeypatch.setattr(SavedRun, "step", step)
    with kboost.checkpoint(path, every=0):
        whole = cross_val_score(model, X, TARGET, cv=3, error_score="raise")
    n_steps, limit = len(steps), len(steps) - 1
    steps.clear()
    with pytest.raises(KilledError), kboost.checkpoint(path, every=0):
        cross_val_score(model, X, TARGET, cv=3, error_score="raise")
    with (
        pytest.raises(ValueError, match="must be a checkpoint of this fit"),
        kboost.checkpoint(path),
    ):
        model.fit(X, TARGET)
    steps.clear()
    with kboost.checkpoint(path, every=0):
        again = cross_val_score(model, X, TARGET, cv=3, error_score="raise")
    assert len(steps) < n_steps / 3
    np.testing.assert_allclose(again, whole, rtol=1e-6)
    assert not path.exists()


def test_a_solver_that_fails_while_a_checkpoint_is_taken_up_ends_with_the_steps_before(
    path, monkeypatch
):
    model = kboost.KernelBoostRegressor(GAUSSIAN, C=1.0, penalty="l2", max_iter=8)
    _, n_writes = fit(model, TARGET, path, monkeypatch)
    with pytest.raises(KilledError):
        fit(model, TARGET, path, monkeypatch, writes=n_writes - 2)
    plain, calls = QPRun.extend, []

    def extend(self, proposal):
        calls.append(proposal)
        if len(calls) == 3:
            raise SolverError("no digits left.")
        plain(self, proposal)

    monkeypatch.setattr(QPRun, "extend", extend)
    monkeypatch.setattr(QPRun, "at_once", False, raising=False)
    with pytest.warns(ConvergenceWarning, match="no digits left"), kboost.checkpoint(path):
        again = clone(model).fit(X, TARGET)
    assert again.n_iter_ == 2
    assert again.stop_reason_.rule == "solver"
    assert np.isfinite(again.predict(X)).all()


def test_batches_of_a_stream_are_not_kept(path):
    model = kboost.SparseKernelRegressor(GAUSSIAN, ridge=0.1, selection=ALD(0.1), random_state=0)
    with kboost.checkpoint(path):
        model.partial_fit(X[:18], TARGET[:18]).partial_fit(X[18:], TARGET[18:])
        assert not path.exists()


def test_the_best_step_before_the_end_of_a_process_is_kept(path, monkeypatch):
    """Held-out rows choose a step that the second process only hears of."""
    model = kboost.KernelBoostRegressor(GAUSSIAN, C=1e4, epsilon=0.0)
    held_out = {"X_val": RNG.normal(size=(20, 2)), "y_val": RNG.normal(size=20)}
    whole = clone(model).fit(X, TARGET, **held_out)
    best = int(np.argmin(whole.trace_.values("validation_error")))
    assert best < len(whole.trace_) - 2
    steps = []

    def stop(self):
        steps.append(self)
        if len(steps) == len(whole.trace_) - 1:
            raise KilledError
        return True

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.CheckpointFile, "is_due", property(stop))
        with pytest.raises(KilledError), kboost.checkpoint(path, every=0):
            clone(model).fit(X, TARGET, **held_out)
    with kboost.checkpoint(path):
        again = clone(model).fit(X, TARGET, **held_out)
    assert len(again.trace_) == len(whole.trace_)
    np.testing.assert_allclose(values(again), values(whole), rtol=1e-6, atol=1e-9)


CHILD = """
import kboost, os, signal
from kboost.masters.qp import QPRun
from kboost.persistence import checkpoints
from tests.persistence.test_checkpoints import FITS, X
real = checkpoints.container.write
def write(*arguments):
    real(*arguments)
    write.left -= 1
    if not write.left:
        os.kill(os.getpid(), signal.SIGKILL)
write.left, checkpoints._SHARE = 4, 0
checkpoints.container.write = write
model, y = FITS["boosting"]
with kboost.checkpoint({path!r}, every=0):
    model.fit(X, y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_kill_9(path, monkeypatch):
    code = CHILD.format(path=str(path))
    child = subprocess.run([sys.executable, "-c", code], cwd=os.getcwd(), check=False)
    assert child.returncode == -signal.SIGKILL
    assert [each.name for each in path.parent.iterdir()] == [path.name]  # nothing half written
    again, _ = fit(*FITS["boosting"], path, monkeypatch)
    model, y = FITS["boosting"]
    np.testing.assert_array_equal(values(again), values(clone(model).fit(X, y)))


@pytest.fixture
def killed(path, monkeypatch):
    """The checkpoint of a killed fit."""
    model, y = FITS["boosting"]
    with pytest.raises(KilledError):
        fit(model, y, path, monkeypatch, writes=3)
    return path


@pytest.mark.parametrize(
    ("rows", "options", "weight"),
    [(X + 1e-9, {}, None), (X, {"max_iter": 6}, None), (X, {}, np.ones(36))],
    ids=["data", "parameters", "weights"],
)
def test_another_fit_is_refused(killed, rows, options, weight):
    model, y = FITS["boosting"]
    before = killed.read_bytes()
    with (
        pytest.raises(ValueError, match="must be a checkpoint of this fit; got one of other data"),
        kboost.checkpoint(killed),
    ):
        clone(model).set_params(**options).fit(rows, y, weight)
    assert killed.read_bytes() == before


def test_other_files_are_left_alone(killed, tmp_path):
    model, y = FITS["boosting"]
    kboost.save_model(clone(model).fit(X, y), tmp_path / "model")
    (tmp_path / "text").write_text("my notes")
    for name, words in (("model", "must be a checkpoint"), ("text", "first bytes are different")):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match=words), kboost.checkpoint(tmp_path / name):
            clone(model).fit(X, y)
        assert (tmp_path / name).read_bytes() == before


def test_what_cannot_be_repeated_is_refused(path):
    model, y = FITS["boosting"]
    with pytest.raises(ValueError, match="random_state=None"), kboost.checkpoint(path):
        clone(model).set_params(random_state=None).fit(X, y)
    with pytest.raises(ValueError, match="can be pickled"), kboost.checkpoint(path):
        clone(model).set_params(kernels=[lambda a, b: a @ b.T]).fit(X, y)
    with pytest.raises(ValueError, match="every must be"), kboost.checkpoint(path, every=-1):
        pass
    with pytest.raises(FileNotFoundError), kboost.checkpoint(path / "no" / "folder"):
        clone(model).fit(X, y)
    assert not path.exists()


def test_a_full_disk_does_not_end_the_fit(path, monkeypatch):
    model, y = FITS["boosting"]
    real = checkpoints.container.write

    def write(*arguments):
        real(*arguments)
        monkeypatch.setattr(checkpoints.container, "write", full)

    def full(*arguments):
        raise OSError("No space left on device")

    monkeypatch.setattr(checkpoints.container, "write", write)
    with pytest.warns(RuntimeWarning, match="No space left"), kboost.checkpoint(path, every=0):
        clone(model).fit(X, y)
