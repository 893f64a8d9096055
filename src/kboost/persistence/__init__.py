"""Model files without pickle: arrays and JSON, checked before use.

`container` reads and writes bytes, `coding` compresses them. `graph` says how values become nodes;
`packing` writes and `unpacking` reads them. `sparse_rows` and `unfolding` check what compiled code
and recursion rely on, `registry` lists the allowed classes and their rules. `pickling` puts the
same bytes into pickles.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from kboost.persistence import container, registry
from kboost.persistence.errors import FormatError, damaged
from kboost.persistence.packing import Packer
from kboost.persistence.unpacking import unpacked

__all__ = ["SKOPS_TRUSTED", "load_model", "load_with_notes", "save_model"]

SKOPS_TRUSTED: list[str] = registry.skops_types()
"""The types of kboost that ``skops.io.load(..., trusted=kboost.SKOPS_TRUSTED)`` must allow."""

_MAX_BYTES = 1 << 32


def save_model(model: Any, path: Any, *, notes: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file that can be loaded without running code.

    The file contains arrays, JSON, a version and a checksum. It is written atomically.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted estimator of kboost, or a scikit-learn pipeline of scalers, imputers, encoders and
        similar transformers that ends in one. Models with a user-defined kernel function cannot be
        saved.
    path : str or path-like
        File to write.
    notes : dict, optional
        Notes to store in the file, as values of JSON: the target, scores, and so on.

    See Also
    --------
    load_model : Read the file.
    kboost.persistence.load_with_notes : Read the file and its notes.

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
    packer.check()
    manifest = {"written_by": _versions(), "nodes": packer.nodes, "root": root}
    if notes:
        manifest["notes"] = dict(notes)
    container.write(path, manifest, packer.arrays)


def load_model(path: Any, *, max_bytes: int = _MAX_BYTES) -> Any:
    """Read an estimator written by :func:`save_model`.

    Nothing in a file is executed or imported: only objects of a fixed list of classes are created.
    Files that are damaged, truncated, too large or written by a newer kboost raise an error.

    Parameters
    ----------
    path : str or path-like
        File to read.
    max_bytes : int, default=2**32
        Largest file size to read.

    Returns
    -------
    estimator
        The estimator with the same parameters, attributes and, bit by bit, predictions.

    Raises
    ------
    ValueError
        If the file is not a valid model.
    OSError
        If the file cannot be read.
    """
    return load_with_notes(path, max_bytes=max_bytes)[0]


def load_with_notes(path: Any, *, max_bytes: int = _MAX_BYTES) -> tuple[Any, dict[str, Any]]:
    """Read an estimator and the notes in its file.

    Parameters
    ----------
    path : str or path-like
        See :func:`load_model`.
    max_bytes : int, default=2**32
        See :func:`load_model`.

    Returns
    -------
    tuple
        The estimator, and the notes of :func:`save_model` with the versions of the packages that
        wrote the file as "written_by".

    Examples
    --------
    >>> import tempfile, os
    >>> from kboost import KernelBoostClassifier, save_model
    >>> from kboost.persistence import load_with_notes
    >>> model = KernelBoostClassifier(C=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "m.kboost")
    ...     save_model(model, path, notes={"target": "late"})
    ...     load_with_notes(path)[1]["target"]
    'late'
    """
    path = os.fspath(path)
    manifest, arrays = container.read(path, max_bytes)
    try:
        notes = manifest.pop("notes", {})
        if not isinstance(notes, dict):
            raise FormatError("its notes are not an object")
        model = _unpack(manifest, arrays)
        return model, {**notes, "written_by": manifest["written_by"]}
    except MemoryError as error:
        raise ValueError(f"{path} must fit into memory; it does not.") from error
    except Exception as error:  # a forged file can provoke any error
        expected = type(error) in (ValueError, FormatError)
        raise damaged(path, str(error).rstrip(".") if expected else type(error).__name__) from error


def _unpack(manifest: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> Any:
    if set(manifest) != {"written_by", "nodes", "root"}:
        raise FormatError("its manifest is incomplete")
    model, foreign = unpacked(manifest["nodes"], manifest["root"], arrays)
    entry = registry.entry_of(type(model))
    if entry is None or not entry.is_estimator:
        raise FormatError("it does not contain an estimator")
    check_is_fitted(model)
    if foreign:
        _check_version(manifest["written_by"], type(model).__name__)
    return model


def _check_version(written_by: Any, name: str) -> None:
    """Warn, as scikit-learn does, of scikit-learn estimators from another version."""
    written_version = written_by.get("scikit-learn") if isinstance(written_by, dict) else None
    if written_version != sklearn.__version__:
        warning = InconsistentVersionWarning(
            estimator_name=name,
            current_sklearn_version=sklearn.__version__,
            original_sklearn_version=str(written_version)[:20],
        )
        warnings.warn(warning, stacklevel=5)


def _versions() -> dict[str, str]:
    from kboost import __version__

    return {
        "kboost": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
