"""Kernels of a dot product.

Linear       x.z
Polynomial   (gamma x.z + coef0)^degree,  positive semi-definite for coef0 >= 0
Sigmoid      tanh(gamma x.z + coef0),     not positive semi-definite
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels import checks
from kboost.kernels.base import ViewKernel
from kboost.kernels.folding import Monomial
from kboost.kernels.sample import Sample
from kboost.kernels.views import View


@dataclass(frozen=True, repr=False)
class Linear(ViewKernel):
    """``x.z``.

    Parameters
    ----------
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    kind: ClassVar[str] = "dot"

    def profile(self, block: FloatArray) -> FloatArray:
        """Return a copy."""
        return block.copy()

    def monomials(self) -> tuple[Monomial, ...]:
        """Return ``(x.z)^1``."""
        return (Monomial(self.pairing.view, degree=1, gamma=1.0, coef0=0.0),)


@dataclass(frozen=True, repr=False)
class Polynomial(ViewKernel):
    """``(gamma x.z + coef0)^degree``.

    Parameters
    ----------
    degree : int
        At least 1.
    coef0 : float, default=1.0
        The kernel is positive semi-definite if it is not negative.
    gamma : float or {"mean", "median", "scale"}, default=1.0
        Factor of the dot product; rules as for ``Gaussian``.
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels import Polynomial
    >>> Polynomial(2)([[1.0, 2.0]], [[1.0, 1.0]])
    array([[16.]])
    """

    kind: ClassVar[str] = "dot"
    degree: int
    coef0: float = 1.0
    gamma: Any = 1.0

    @property
    def is_psd(self) -> bool:
        """Whether ``coef0`` is not negative."""
        return self.coef0 >= 0

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Return the checked parameters."""
        return {
            "degree": checks.integer("degree", self.degree, minimum=1),
            "coef0": checks.finite("coef0", self.coef0),
            "gamma": checks.gamma(self.gamma, sample, "sqeuclidean", view),
        }

    def profile(self, block: FloatArray) -> FloatArray:
        """Return the power."""
        base = block * self.gamma
        base += self.coef0
        return _power(base, self.degree)

    def monomials(self) -> tuple[Monomial, ...] | None:
        """Return the kernel if it is positive semi-definite and its degree is at most 3."""
        if self.coef0 < 0 or self.degree > 3:
            return None
        return (Monomial(self.pairing.view, self.degree, self.gamma, self.coef0),)


@dataclass(frozen=True, repr=False)
class Sigmoid(ViewKernel):
    """``tanh(gamma x.z + coef0)``, not positive semi-definite.

    Parameters
    ----------
    gamma : float or {"mean", "median", "scale"}, default="scale"
        Factor of the dot product; rules as for ``Gaussian``.
    coef0 : float, default=0.0
        Shift.
    columns : list of str or int, optional
        Features the kernel uses.
    on : {"standard", "ranks"}, optional
        Transform of each feature.

    Examples
    --------
    >>> from kboost.kernels import Sigmoid
    >>> Sigmoid(gamma=1.0)([[0.0]], [[1.0]])
    array([[0.]])
    """

    kind: ClassVar[str] = "dot"
    gamma: Any = "scale"
    coef0: float = 0.0

    @property
    def is_psd(self) -> bool:
        """False."""
        return False

    def parameters(self, sample: Sample, view: View) -> dict[str, Any]:
        """Return the checked parameters."""
        return {
            "gamma": checks.gamma(self.gamma, sample, "sqeuclidean", view),
            "coef0": checks.finite("coef0", self.coef0),
        }

    def profile(self, block: FloatArray) -> FloatArray:
        """Return the hyperbolic tangent."""
        out: FloatArray = block * self.gamma
        out += self.coef0
        np.tanh(out, out=out)
        return out


def _power(base: FloatArray, exponent: int) -> FloatArray:
    """``base ** exponent`` by squaring, from the leading bit; ``base`` may be overwritten."""
    bits = f"{exponent:b}"[1:]
    out = base.copy() if "1" in bits else base
    for bit in bits:
        out *= out
        if bit == "1":
            out *= base
    return out
