"""What the core is asked in tests of its searches."""

import numpy as np

from partita import _core
from partita.losses.problem import core_sample
from partita.search.core import native_options


def options_of(sample, search, **changed):
    """The options of a search with seed 1, some of them changed."""
    options = native_options(sample, search, np.random.default_rng(1))
    for name, value in changed.items():
        setattr(options, name, value)
    return options


def problem_of(sample, loss, copies=None, sharing=_core.Sharing.where_it_pays):
    """A sample under a loss; `copies` counts the items that each item stands for."""
    n_items = sample.n_items if copies is None else int(copies.sum())
    return _core.Problem(core_sample(sample), loss._native(n_items), copies, sharing)
