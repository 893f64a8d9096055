"""Model files without pickle: arrays and plain JSON, checked before they are used.

`container` is the bytes, `graph` the values, `registry` the list of what there may be.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from kboost.persistence import container, registry
from kboost.persistence.container import damaged
from kboost.persistence.graph import Packer, Unpacker

__all__ = ["SKOPS_TRUSTED", "load_model", "save_model"]

SKOPS_TRUSTED: list[str] = registry.skops_types()
"""The types of kboost that ``skops.io.load(..., trusted=kboost.SKOPS_TRUSTED)`` must allow."""

_MAX_BYTES = 1 << 32


def save_model(model: Any, path: Any) -> None:
    """Write a fitted estimator to a file that can be read without running anything.

    The file holds arrays and plain JSON, a version and a checksum; see :func:`load_model`. It
    appears whole or not at all.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of kboost, or a scikit-learn pipeline that ends in one, of scalers,
        imputers, encoders and the like. Functions are not saved: a model with a kernel that is a
        function of your own is refused.
    path : str or path-like
        Where to.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> import tempfile, os
    >>> from sklearn.datasets import load_iris
    >>> from kboost import KernelBoostClassifier, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelBoostClassifier(C=1.0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.kboost")
    ...     save_model(model, path)
    ...     same = load_model(path)
    >>> bool((same.decision_function(X) == model.decision_function(X)).all())
    True
    """
    path = os.fspath(path)
    entry = registry.entry_of(type(model))
    if entry is None or not entry.is_estimator:
        raise ValueError(
            "model must be an estimator of kboost, or a Pipeline that ends in one; "
            f"got {type(model).__name__}."
        )
    check_is_fitted(model)
    packer = Packer()
    root = packer.value(model, "model")
    manifest = {"written_by": _versions(), "nodes": packer.nodes, "root": root}
    container.write(path, manifest, packer.arrays)


def load_model(path: Any, *, max_bytes: int = _MAX_BYTES) -> Any:
    """Read an estimator that :func:`save_model` wrote.

    Nothing in a file is run or imported: it is data, from which objects of a fixed list of classes
    are made. A file that is damaged, cut short, too large or newer than this kboost is refused.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=2**32
        The largest file to read.

    Returns
    -------
    estimator
        As it was saved: parameters, attributes and predictions, to the last bit.

    Raises
    ------
    ValueError
        For a file that is not a whole model, in one sentence.
    OSError
        For a file that cannot be read.
    """
    path = os.fspath(path)
    manifest, arrays = container.read(path, max_bytes)
    try:
        return _made(manifest, arrays)
    except MemoryError as error:
        raise ValueError(f"{path} does not fit into memory.") from error
    except Exception as error:  # whatever a forged file provokes is the file's fault
        words = str(error) if type(error) is ValueError else type(error).__name__
        raise damaged(path, words.rstrip(".")) from error


def _made(manifest: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> Any:
    if set(manifest) != {"written_by", "nodes", "root"} or not isinstance(manifest["nodes"], list):
        raise ValueError("its manifest is incomplete")
    unpacker = Unpacker(arrays)
    for node in manifest["nodes"]:
        unpacker.add(node)
    unpacker.finish()
    model = unpacker.value(manifest["root"])
    entry = registry.entry_of(type(model))
    if entry is None or not entry.is_estimator:
        raise ValueError("it holds no estimator")
    check_is_fitted(model)
    if unpacker.foreign:
        _check_version(manifest["written_by"], type(model).__name__)
    return model


def _check_version(written_by: Any, name: str) -> None:
    """Warn as scikit-learn does of its own estimators from another version."""
    theirs = written_by.get("scikit-learn") if isinstance(written_by, dict) else None
    if theirs != sklearn.__version__:
        warning = InconsistentVersionWarning(
            estimator_name=name,
            current_sklearn_version=sklearn.__version__,
            original_sklearn_version=str(theirs)[:20],
        )
        warnings.warn(warning, stacklevel=4)


def _versions() -> dict[str, str]:
    from kboost import __version__

    return {
        "kboost": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
