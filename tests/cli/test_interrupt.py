"""Ctrl-C, the real signal: `kboost fit` saves what there is, and `fit` keeps it."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")

import kboost  # noqa: E402
from kboost.settings import ColumnGeneration, Joint  # noqa: E402

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
NOISE = RNG.integers(0, 2, 400)  # which takes a mixture for ever to learn by heart
ENDLESS = {"C": 1e6, "tol": 1e-12, "solver": ColumnGeneration(columns_per_step=1)}
FITS = {
    "boost": (kboost.KernelBoostClassifier(["rbf", "linear"], **ENDLESS), NOISE),
    "tube": (kboost.KernelBoostRegressor(["rbf"], **ENDLESS), NOISE + X[:, 0] ** 2),
    "semi-supervised": (
        kboost.SemiSupervisedKernelBoostClassifier(["rbf"], **ENDLESS),
        np.where(np.arange(400) < 300, NOISE, -1),
    ),
    "novelty": (
        kboost.KernelBoostNovelty(["rbf"], tol=1e-12, solver=ColumnGeneration(columns_per_step=1)),
        NOISE,
    ),
    "sparse": (kboost.SparseKernelRegressor(["rbf"], ridge=1e-9, update=Joint(1)), X[:, 0] ** 2),
    "machines": (kboost.MKBoostClassifier(["rbf"], max_iter=10**6), NOISE),
}
TELLING = """
import logging, signal, sys
from kboost.cli import main
from kboost.core.trace import Step

class Tell(logging.Handler):
    def emit(self, record):
        if record.args and isinstance(record.args[0], Step):
            print(f"step {record.args[0].iteration}", file=sys.stderr, flush=True)

logging.getLogger("kboost").addHandler(Tell())
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
main()
"""


def test_sigint_in_a_fit_on_the_command_line(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.assign(y=np.array(["no", "yes"])[NOISE]).to_csv(tmp_path / "noise.csv", index=False)
    path = tmp_path / "m.kboost"
    arguments = ["fit", tmp_path / "noise.csv", "-t", "y", "-o", path]
    arguments += ["--estimator", "KernelBoostClassifier"]
    for name, value in ENDLESS.items():
        arguments += ["--set", f"{name}={value}"]
    with subprocess.Popen(
        [sys.executable, "-c", TELLING, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        errors = []
        for line in process.stderr:
            errors.append(line)
            if line == "step 3\n":
                process.send_signal(signal.SIGINT)
        out = process.stdout.read()
    assert process.returncode == 130
    said = [line for line in errors if not line.startswith("step ")]
    assert said == ["interrupted; the best model so far is saved.\n"]
    assert "stopped: interrupted" in out
    assert "Saved: " in out
    model = kboost.load_model(path)
    assert model[-1].n_columns_ >= 1
    assert set(model.predict(frame)) <= {"no", "yes"}


class Ring(logging.Handler):
    """Sends the signal a moment after the second step, from a thread of its own."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.sender = None

    def emit(self, record):
        step = record.args[0] if record.args else None
        if getattr(step, "iteration", None) == 2 and self.sender is None:
            self.sender = threading.Timer(0.01, signal.raise_signal, [signal.SIGINT])
            self.sender.start()


@pytest.fixture
def ring():
    logger, ring = logging.getLogger("kboost"), Ring()
    level = logger.level
    logger.addHandler(ring)
    logger.setLevel(logging.INFO)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # xdist ignores the signal
    yield ring
    signal.signal(signal.SIGINT, handler)
    logger.removeHandler(ring)
    logger.setLevel(level)


def fit_and_wait(model, y):
    model.fit(X, y)
    time.sleep(5)  # should a fit be faster than the signal, it would be caught here


@pytest.mark.parametrize("name", FITS)
def test_sigint_in_a_fit(ring, name):
    model, y = FITS[name]
    with pytest.raises(KeyboardInterrupt):
        fit_and_wait(model, y)
    ring.sender.join()
    assert model.n_columns_ >= 1
    assert model.predict(X).shape == y.shape
    assert "interrupted" in str(model.stop_reason_)
