"""Tables of mixed columns with gaps: the data, the competitors, and the measurement of one job."""
