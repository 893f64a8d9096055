"""The scikit-learn side: parameters in, fitted attributes out; no formula lives here."""
