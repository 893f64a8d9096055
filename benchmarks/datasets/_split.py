"""A stratified split of bundled data."""

from __future__ import annotations

from sklearn.model_selection import train_test_split

from benchmarks.datasets import Data, FloatArray, standardised


def split(X: FloatArray, y: FloatArray, *, test_size: float, seed: int) -> Data:
    """Standardised training and test parts."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=test_size, stratify=y, random_state=seed
    )
    X_train, X_test = standardised(X_train, X_test)
    return Data(X_train, y_train, X_test, y_test)
