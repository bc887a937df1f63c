"""Costs that are whole multiples of one step: the values of all partitions are, too, and so are their lower bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from partita._support.arrays import Floats

#: Costs have a common step if they are multiples of 1/d with d at most this, ...
MAX_DENOMINATOR = 1_000_000
#: ... and all of them together differ from multiples by at most this part of the step.
STEP_ERROR = 1e-6
#: A bound above a multiple by less than this part of the step may be the multiple itself, to the solver's rounding.
STEP_MARGIN = 1e-3


def common_step(cost: Floats) -> float:
    """The largest number of which all costs are whole multiples; 0 if no simple fraction is one.

    With H draws of equal weight the costs are multiples of 1/H. The value of every partition is a multiple, too, so a
    lower bound can be raised to the next one.

    >>> common_step(np.array([[0.0, 0.6], [-0.4, 0.0]]))
    0.2
    """
    denominator = 1
    for value in np.unique(np.abs(cost).round(12)).tolist():
        denominator = math.lcm(denominator, Fraction(value).limit_denominator(MAX_DENOMINATOR).denominator)
        if denominator > MAX_DENOMINATOR:
            return 0.0
    multiples = cost * denominator
    whole = multiples.round().astype(np.int64)
    if np.abs(multiples - whole).sum() > STEP_ERROR:
        return 0.0
    return int(np.gcd.reduce(whole, axis=None)) / denominator


def raised(bound: float, step: float) -> float:
    """A lower bound on whole multiples of the step."""
    return step * math.ceil(bound / step - STEP_MARGIN) if step else bound
