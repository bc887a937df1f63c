"""The labels of a result as a file that every other program reads."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.atomic import atomic_file
from partita._support.text.write_table import significant, write_table
from partita.estimation.result import Estimate
from partita.uncertainty.certainty import item_certainty

UNLABELLED = -1


def write_labels(path: str | PathLike[str], result: Any, *, one_based: bool = False) -> Path:
    """Writes the cluster of each item: one row per item with its name, its cluster and, from draws, its certainty.

    Parameters
    ----------
    path : path
        Its name ends in .csv, .tsv or .parquet. The file appears only when it is complete.
    result : Estimate, PairEstimate, BlockFit, MixtureFit, fitted estimator or (n,) array_like
        Anything with ``labels`` or ``labels_``, or labels themselves.
    one_based : bool
        Number the clusters, and items without names, from 1 instead of 0, as R does.

    Returns
    -------
    Path
        The path of the file.

    Examples
    --------
    >>> import partita as pt, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> best = pt.estimate([[0, 0, 1], [0, 0, 1], [0, 1, 1]], rng=1)
    >>> print(pt.write_labels(pathlib.Path(folder.name) / "labels.csv", best, one_based=True).read_text().strip())
    item,cluster,certainty
    1,1,0.666667
    2,1,0.666667
    3,2,0.666667
    >>> folder.cleanup()
    """
    path = Path(path)
    labels = _labels_of(result)
    header, columns = ["item", "cluster"], [_names_of(result, labels.size, one_based), shifted(labels, one_based)]
    if isinstance(result, Estimate):
        header.append("certainty")
        columns.append(list(map(significant, item_certainty(result).probability.tolist())))
    with atomic_file(path) as temporary:
        write_table(temporary, header, zip(*columns, strict=True))
    return path


def shifted(labels: NDArray[np.int64], one_based: bool) -> list[Any]:
    """Labels as a list, counted from 1 if so asked; -1, no label, stays."""
    return list(np.where(labels == UNLABELLED, UNLABELLED, labels + int(one_based)).tolist())


def _labels_of(result: Any) -> NDArray[np.int64]:
    found = next((getattr(result, name) for name in ("labels", "labels_") if hasattr(result, name)), result)
    labels = np.asarray(found)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.size == 0:
        raise TypeError(
            f"result must have labels, one whole number per item, but it is {type(result).__name__}"
            " (an estimate, a fit, a fitted estimator, or an array of labels)"
        )
    return labels.astype(np.int64, copy=False)


def _names_of(result: Any, n_items: int, one_based: bool) -> Sequence[Any]:
    """The names of the items, wherever the result holds them, or their numbers."""
    for place in (result, *(getattr(result, name, None) for name in ("sample", "similarity", "graph"))):
        names = getattr(place, "names", None)
        if names is not None and len(names) == n_items:
            return [str(name) for name in names]
    return range(int(one_based), n_items + int(one_based))
