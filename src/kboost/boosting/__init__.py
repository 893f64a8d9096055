"""AdaBoost rounds over support vector machines, kernel design, and multiclass reductions."""
