"""Checks for parts of your own: `check_master`, `check_oracle` and `check_kernel`.

Each is a plain function that raises AssertionError; see docs/extend.
"""

from kboost.testing.kernels import KERNEL_CHECKS, check_kernel
from kboost.testing.masters import (
    MASTER_CHECKS,
    MasterReference,
    check_equivalent,
    check_master,
)
from kboost.testing.oracles import ORACLE_CHECKS, check_oracle

__all__ = [
    "KERNEL_CHECKS",
    "MASTER_CHECKS",
    "ORACLE_CHECKS",
    "MasterReference",
    "check_equivalent",
    "check_kernel",
    "check_master",
    "check_oracle",
]
