"""Masters set the coefficients of the columns they are given; one file a problem."""
