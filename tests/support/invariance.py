"""Results before and after a change that must not matter, brought to one form."""

import numpy as np


def draws_of(seed):
    """Noisy copies of three clusters of ten items, and how often each was drawn."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(4, size=(40, 10))
    draws = np.where(rng.random(noise.shape) < 0.25, noise, [0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    return draws, rng.integers(1, 9, len(draws))


def moved(how, draws, counts, rng):
    """Draws after a change, their weights, and the place of each of the new items among the old ones."""
    items = np.arange(draws.shape[1])
    if how == "items":
        items = rng.permutation(items)
        return draws[:, items], counts, items
    if how == "draws":
        order = rng.permutation(len(draws))
        return draws[order], counts[order], items
    if how == "labels":
        return np.array([rng.permutation(9)[row] for row in draws]), counts, items
    return np.repeat(draws, counts, axis=0), None, items


def in_old_order(kind, value, items):
    """A result for the items as they were, in a form that can be compared."""
    value = np.asarray(value)
    if kind == "value":
        return value
    if kind == "pair":
        back = np.empty_like(value)
        back[np.ix_(items, items)] = value
        return back
    back = np.empty_like(value)
    back[..., items] = value
    if kind == "item":
        return back
    named = [tuple(_renamed(row)) for row in np.atleast_2d(back)]
    return np.array(sorted(named) if kind == "partitions" else named)


def _renamed(row):
    seen: dict = {}
    return [-1 if label < 0 else seen.setdefault(label, len(seen)) for label in row.tolist()]


def assert_same(one, other, items):
    for (kind, name), value in one.items():
        expected, found = in_old_order(kind, value, np.arange(len(items))), in_old_order(kind, other[kind, name], items)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)
