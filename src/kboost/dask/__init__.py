"""The estimators on rows that lie in the partitions of a Dask cluster.

Importing this needs the extra ``kboost[dask]``; ``import kboost`` alone does not import Dask.
"""

try:
    from kboost.dask.auto import DaskAutoKernelClassifier, DaskAutoKernelRegressor
    from kboost.dask.boost import DaskKernelBoostClassifier, DaskKernelBoostRegressor
    from kboost.dask.sparse import DaskSparseKernelClassifier, DaskSparseKernelRegressor
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"kboost.dask needs Dask ({error}); pip install 'kboost[dask]' installs it.",
        name=error.name,
    ) from error

__all__ = [
    "DaskAutoKernelClassifier",
    "DaskAutoKernelRegressor",
    "DaskKernelBoostClassifier",
    "DaskKernelBoostRegressor",
    "DaskSparseKernelClassifier",
    "DaskSparseKernelRegressor",
]
