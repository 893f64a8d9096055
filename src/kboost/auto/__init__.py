"""The search behind the Auto estimators: what competes, how it is judged, and the final fit."""
