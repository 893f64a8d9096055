"""One computation under the driver: its result, or what stands for it after Ctrl-C."""

import pytest

from kboost.core.interruptible import interruptible
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.exceptions import OutOfTimeError

DONE = StopReason("done", "everything is computed.")


def test_the_result_comes_with_its_reason():
    assert interruptible(lambda: (3, DONE), 0) == (3, DONE)


@pytest.mark.parametrize(
    ("error", "reason"), [(KeyboardInterrupt, INTERRUPTED), (OutOfTimeError, OUT_OF_TIME)]
)
def test_what_ends_it_early_leaves_the_other_result(error, reason):
    def compute():
        raise error("now")

    assert interruptible(compute, 0) == (0, reason)


def test_other_errors_are_raised():
    def compute():
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        interruptible(compute, 0)
