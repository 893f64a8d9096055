"""The order of the examples, and the style of their figures."""

from kboost.plotting._axes import AMBER, BLUE, GREEN, GREY, PURPLE, RED

ORDER = [
    "plot_a_fit",
    "plot_auto",
    "plot_real_diabetes",
    "plot_real_breast_cancer",
    "plot_real_wine",
    "plot_real_digits",
    "plot_mixture_of_kernels",
    "plot_path_over_c",
    "plot_probabilities",
    "plot_feature_groups",
    "plot_text_and_numbers",
    "plot_tube",
    "plot_infinite_ensembles",
    "plot_time_series",
    "plot_semi_supervised",
    "plot_novelty",
    "plot_mkboost",
    "plot_large_scale",
    "plot_million_rows",
    "plot_dask",
    "plot_deploy_onnx",
    "plot_own_parts",
]
LOOK = {
    "figure.figsize": (6.4, 3.8),
    "figure.dpi": 100,
    "font.size": 9.5,
    "axes.prop_cycle": ("color", [BLUE, RED, GREEN, AMBER, PURPLE, GREY]),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "legend.frameon": False,
}


def place(filename):
    """Return the position of an example; add new examples to the list."""
    return ORDER.index(str(filename).removesuffix(".py"))


def look(gallery_conf, fname):
    """Set the style of matplotlib before each example."""
    from cycler import cycler
    from matplotlib import rcParams

    rcParams.update(LOOK | {"axes.prop_cycle": cycler(*LOOK["axes.prop_cycle"])})
