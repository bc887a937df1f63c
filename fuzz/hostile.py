"""What the scripts of the cases may use: odd arrays, hostile callables, damaged files, and checks of results."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from fuzz.checks import *  # noqa: F403
from fuzz.damage import *  # noqa: F403
from fuzz.pair_input import *  # noqa: F403

_calls = count()


class Hostile(Exception):
    """What a hostile callable raises: a library must let it through."""


def strided(values: Any) -> Any:
    """An array that is every second element of another along each axis."""
    array = np.array(values)
    for axis in range(array.ndim):
        array = np.repeat(array, 2, axis=axis)
    return array[tuple(slice(None, None, 2) for _ in array.shape)]


def read_only(array: Any) -> Any:
    """An array that cannot be written to."""
    array.flags.writeable = False
    return array


def unaligned(array: Any) -> Any:
    """An array whose elements begin at odd addresses."""
    if array.dtype.hasobject:
        return array
    room = np.zeros(array.nbytes + 1, np.uint8)
    view = room[1:].view(array.dtype).reshape(array.shape) if array.size else array
    view[...] = array
    return view


def table(rows: Any) -> Any:
    """A pandas table of the rows."""
    import pandas as pd

    return pd.DataFrame(rows)


def sparse(matrix: Any) -> Any:
    """A sparse matrix in compressed rows."""
    import scipy.sparse

    return scipy.sparse.csr_array(matrix)


def edges(matrix: Any) -> Any:
    """A list of pairs."""
    return [(int(i), int(j)) for i, j in zip(*np.nonzero(matrix), strict=True)]


def network(matrix: Any) -> Any:
    """A networkx graph."""
    import networkx

    return networkx.from_numpy_array(matrix, create_using=networkx.DiGraph)


def fitted(labels: Any, graph: Any) -> Any:
    """The labels, cut or repeated so that there is one for each row of a matrix."""
    shape = getattr(graph, "shape", None)
    return np.resize(np.asarray(labels), shape[0]) if shape else labels


def close_figures() -> None:
    """Frees the figures that were drawn."""
    import matplotlib.pyplot

    matplotlib.pyplot.close("all")


def squares(counts: Any) -> Any:
    return np.asarray(counts, float) ** 2


def logs(counts: Any) -> Any:
    counts = np.asarray(counts, float)
    return counts * np.log2(np.maximum(counts, 1))


def linear(counts: Any) -> Any:
    return np.asarray(counts, float)


def ones(counts: Any) -> Any:
    return (np.asarray(counts) > 0).astype(float)


def huge(counts: Any) -> Any:
    return np.where(np.asarray(counts) > 0, 1.7e308, 0.0)


def minus_huge(counts: Any) -> Any:
    return -huge(counts)


def nan(counts: Any) -> Any:
    return np.full(len(counts), np.nan)


def short(counts: Any) -> Any:
    return np.zeros(1)


def raises(*arguments: Any, **options: Any) -> Any:
    raise Hostile("this callable always raises")


def interrupts(*arguments: Any) -> Any:
    raise KeyboardInterrupt


def exits(*arguments: Any) -> Any:
    raise SystemExit(3)


def enters_again(*arguments: Any) -> Any:
    """Calls the library from inside a call of the library, now and then: searches ask for losses thousands of times."""
    import partita as pt

    if next(_calls) % 20 == 0:
        pt.estimate([[0, 0, 1], [0, 1, 1]], search=pt.Search(runs=1, n_jobs=2), rng=1)
    return binder_like(*arguments) if len(arguments) == 3 else None


def raises_later(calls: int = 7) -> Any:
    """A callable that fails once, after some calls; till then it is a loss."""
    left = iter(range(calls))

    def called(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise Hostile("this callable has had enough")
        return binder_like(*arguments) if len(arguments) == 3 else None

    return called


def quiet_progress(*arguments: Any) -> None:
    return None


def binder_like(joint: Any, estimate: Any, draw: Any) -> Any:
    return estimate + draw - 2 * joint


def nan_loss(joint: Any, estimate: Any, draw: Any) -> Any:
    return joint * np.nan


def wrong_shape(joint: Any, estimate: Any, draw: Any) -> Any:
    return np.zeros(len(joint) + 1)


def huge_loss(joint: Any, estimate: Any, draw: Any) -> Any:
    return np.where(joint > estimate, 1.7e308, -1.7e308)


def constant(joint: Any, estimate: Any, draw: Any) -> Any:
    return 1.0


def ratio(joint: Any, estimate: Any, draw: Any) -> Any:
    return 1 - joint / np.maximum(np.maximum(estimate, draw), 1e-300)


def text_loss(joint: Any, estimate: Any, draw: Any) -> Any:
    return "loss"


def changes_arguments(joint: Any, estimate: Any, draw: Any) -> Any:
    for array in (joint, estimate, draw):
        array[...] = np.nan
    return np.zeros(len(joint))


def complex_loss(joint: Any, estimate: Any, draw: Any) -> Any:
    return joint * 1j


def strided_loss(joint: Any, estimate: Any, draw: Any) -> Any:
    return np.repeat(binder_like(joint, estimate, draw), 2)[::2]


def whole_loss(joint: Any, estimate: Any, draw: Any) -> Any:
    return np.asarray(binder_like(joint, estimate, draw)).astype(np.int8)


def random_loss() -> Any:
    """Another value at each call: no loss at all."""
    rng = np.random.default_rng(1)

    def unstable(joint: Any, estimate: Any, draw: Any) -> Any:
        return rng.normal(size=len(joint))

    return unstable


class raising_array:
    """An object that fails when it is made an array."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise Hostile("this is no array")


class wrong_array:
    """An object that says it is an array and gives something else."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.shape, self.ndim, self.dtype = (10**9, 10**9), 2, np.dtype("i8")

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return np.array(self.rows, dtype=object)


class lying(list):  # type: ignore[type-arg]
    """A list that says it is longer than it is."""

    def __len__(self) -> int:
        return 10**9


class growing(list):  # type: ignore[type-arg]
    """A list that has another row each time it is read."""

    def __iter__(self) -> Any:
        rows = list(super().__iter__())
        self.append(list(range(len(self))))
        return iter(rows)


def multigraph(matrix: Any) -> Any:
    """A networkx graph with several edges between nodes that have names, and weights."""
    import networkx

    graph = networkx.MultiGraph()
    graph.add_edges_from((f"n{i}", f"n{j}", {"weight": 0.5}) for i, j in edges(matrix) for _ in range(2))
    return graph


def weightless(n_draws: int, kept: Any) -> Any:
    """Weights that are 0 but for a few draws."""
    return np.bincount(np.asarray(kept) % n_draws, minlength=n_draws)
