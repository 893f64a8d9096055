"""The order of the examples, the style of their figures, and thumbnails that can be read."""

from pathlib import Path

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


def first_panel(picture):
    """Cut a wide figure at its widest white gap, so that its first panels are left."""
    import numpy as np

    height, width = picture.shape[:2]
    white = (picture.min(axis=2) > 250).all(axis=0)
    edges = np.flatnonzero(np.diff(np.r_[0, white, 0])).reshape(-1, 2)
    gaps = [(end - start, (start + end) // 2) for start, end in edges]
    fair = [gap for gap in gaps if 0.9 * height < gap[1] < min(2.0 * height, 0.85 * width)]
    return picture[:, : max(fair)[1]] if fair else picture


def thumbnails(app):
    """Make the thumbnails of wide figures again, of their first panels: the others are legible."""
    import numpy as np
    from PIL import Image

    images = Path(app.srcdir) / "auto_examples" / "images"
    size = app.config.sphinx_gallery_conf["thumbnail_size"]
    for path in images.glob("sphx_glr_plot_*_001_2_00x.png"):
        with Image.open(path) as figure:
            if figure.width < 1.8 * figure.height:
                continue
            panel = Image.fromarray(first_panel(np.asarray(figure.convert("RGB"))))
        panel.thumbnail(size)
        card = Image.new("RGB", size, "white")
        card.paste(panel, ((size[0] - panel.width) // 2, (size[1] - panel.height) // 2))
        card.save(images / "thumb" / path.name.replace("_001_2_00x", "_thumb"))


def setup(app):
    """Run after the gallery is generated."""
    app.connect("builder-inited", thumbnails, priority=900)
    return {"parallel_read_safe": True}
