"""Entries, a file each: `run(bench) -> Report`. The first line of a file says what it compares."""

NAMES = (
    "import_time",
    "bundled",
    "calibration",
    "predict_speed",
    "lp_forest",
    "qp_forest",
    "path_speed",
    "memory",
    "toy",
    "table2",
    "table3",
    "table4",
    "table5",
    "curves",
    "ssmk",
    "sre_speed",
    "sinc",
    "mackey_glass",
    "santa_fe",
    "few_rows",
)
