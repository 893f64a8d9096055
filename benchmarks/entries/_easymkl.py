"""MKLpy's EasyMKL as a peer, in an environment of its own.

MKLpy is under the GPL: it is not among kboost's packages, no line of it is here, and it is called
as a program. The environment is made once, in the user's cache (or where KBOOST_CACHE says).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.objective import Row, environment

PACKAGES = ("MKLpy==0.6", "torch==2.13.0", "setuptools<81")  # it asks for pkg_resources
SCRIPT = Path(__file__).with_name("_easymkl_program.py")
LIMIT = 1800.0  # seconds


@lru_cache(maxsize=1)
def program() -> Path | str:
    """The environment's Python, or the reason why there is none."""
    cache = Path(os.environ.get("KBOOST_CACHE", Path.home() / ".cache" / "kboost"))
    home = cache / "mklpy"
    python, ready = home / "bin" / "python", home / "ready"
    if ready.is_file():
        return python
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        subprocess.run([python, "-c", "import MKLpy.algorithms"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"MKLpy could not be installed ({type(error).__name__})"
    ready.touch()
    return python


def measure(data: Any, widths: list[float], degrees: list[int]) -> Row:
    """Fit and score EasyMKL on the kernels of these widths and degrees, one thread."""
    python = program()
    if isinstance(python, str):
        return {"status": "not installed", "message": python}
    with tempfile.TemporaryDirectory() as directory:
        question, answer = Path(directory) / "data.npz", Path(directory) / "row.json"
        names = ("X_train", "y_train", "X_test", "y_test")
        np.savez(
            question,
            widths=widths,
            degrees=degrees,
            **{name: getattr(data, name) for name in names},
        )
        try:
            done = subprocess.run(
                [python, SCRIPT, question, answer],
                env=environment(1),
                check=False,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return {"status": "time limit", "message": f"stopped after {LIMIT:g} s"}
        if not answer.is_file():
            words = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            return {"status": "failed", "message": words[-1]}
        row: Row = json.loads(answer.read_text())
        return row
