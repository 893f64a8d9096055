"""What columns are divided by."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from kboost.columns.scaling import SPIKE_FLOOR, column_scales

SIZES = arrays(np.float64, 6, elements=st.floats(0, 1e100, allow_subnormal=False))


SHARES = arrays(np.float64, 6, elements=st.floats(0, 1))


@given(peak=SIZES, share=SHARES)
def test_unit_scaling(peak, share):
    rms = peak * share  # a root mean square never exceeds the peak
    assert_array_equal(column_scales("unit", rms, peak), np.where(rms > 0, rms, 1.0))


@given(peak=SIZES, share=SHARES)
def test_floored_scaling(peak, share):
    rms = peak * share
    scales = column_scales("floored", rms, peak)
    assert (scales > 0).all()
    assert (scales[peak > 0] >= SPIKE_FLOOR * peak[peak > 0]).all()
    free = (rms >= SPIKE_FLOOR * peak) & (rms > 0)
    assert_array_equal(scales[free], rms[free])
    assert_array_equal(scales[(rms == 0) & (peak == 0)], 1.0)


def test_no_scaling():
    assert_array_equal(column_scales(None, np.array([0.0, 2.0]), np.array([0.0, 5.0])), 1.0)
