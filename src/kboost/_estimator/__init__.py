"""What the scikit-learn estimators of the package share."""
