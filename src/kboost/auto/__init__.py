"""The search behind the Auto estimators: candidates, judgement on rows left out, blend, final fit."""
