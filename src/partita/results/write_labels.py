"""The labels of a result as a file that every other program reads."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from partita._support.atomic import atomic_file
from partita._support.text.write_table import write_table
from partita.results.present import present
from partita.results.tables import Table, columns


def write_labels(path: str | PathLike[str], result: Any, *, one_based: bool = False) -> Path:
    """Writes the cluster of each item: one row per item with its name, its cluster and, from draws, its certainty.

    From draws there are also the probabilities of all clusters (`memberships`), if these are at most 50: p_0, p_1, ...
    and p_other.

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
    item,cluster,certainty,p_1,p_2,p_other
    1,1,0.666667,1.0,0.0,0.0
    2,1,0.666667,0.666667,0.333333,0.0
    3,2,0.666667,0.0,1.0,0.0
    >>> folder.cleanup()
    """
    path, first = Path(path), int(one_based)
    if hasattr(type(result), "presented_by"):
        table = present(result, first=first).tables["items"].counted_from(first)
    else:
        table = _plain_table(result, first)
    with atomic_file(path) as temporary:
        write_table(temporary, [column.header for column in table.columns], table.values())
    return path


def _plain_table(result: Any, first: int) -> Table:
    """The table of plain labels, or of a fitted estimator."""
    found = next((getattr(result, name) for name in ("labels", "labels_") if hasattr(result, name)), result)
    labels = np.asarray(found)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.size == 0:
        raise TypeError(
            f"result must have labels, one whole number per item, but it is {type(result).__name__}"
            " (an estimate, a fit, a fitted estimator, or an array of labels)"
        )
    names = getattr(result, "names", None) or range(first, labels.size + first)
    rows = list(zip(map(str, names), labels.tolist(), strict=True))
    return Table("items", "", columns("item; cluster:cluster"), rows).counted_from(first)
