"""Pair probabilities in the forms that linkers write: tables, series, scores, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzz.damage import changed, folder_of

__all__ = [
    "arrow_table", "named_matrix", "pair_file", "pair_scores", "pair_series", "pair_table", "remade", "splink_table",
]  # fmt: skip


def pair_table(rows: Any) -> Any:
    """A pandas table with names of columns."""
    import pandas as pd

    return pd.DataFrame(rows, columns=["left", "right", "p"])


def splink_table(rows: Any) -> Any:
    """The columns of Splink, with a source for each item."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["unique_id_l", "unique_id_r", "match_probability"])
    return frame.assign(source_dataset_l="a", source_dataset_r="b")


def pair_series(rows: Any) -> Any:
    """A Series with two index levels, as recordlinkage makes it."""
    import pandas as pd

    index = pd.MultiIndex.from_tuples([row[:2] for row in rows])
    return pd.Series([row[2] for row in rows], index=index)


def pair_scores(rows: Any) -> Any:
    """The scores of dedupe: records of two identifiers and a number."""
    kind = [("pairs", "O", 2), ("score", "f8")]
    return np.array([((left, right), score) for left, right, score in rows], dtype=kind)


def arrow_table(rows: Any) -> Any:
    """A table of Arrow."""
    import pyarrow

    return pyarrow.Table.from_pandas(pair_table(rows))


def named_matrix(rows: Any) -> Any:
    """A pandas table whose rows and columns have the same names."""
    import pandas as pd

    names = [f"x{i}" for i in range(len(rows))]
    return pd.DataFrame(rows, index=names, columns=names)


def pair_file(name: str, rows: Any) -> str:
    """A file of pairs, or of a matrix, in the format of its name."""
    path = folder_of(name)
    if name.endswith(".npy"):
        np.save(path, np.array(rows, dtype=float))
    elif name.endswith(".npz"):
        import scipy.sparse

        scipy.sparse.save_npz(path, scipy.sparse.csr_array(np.array(rows, dtype=float)))
    elif name.endswith(".parquet"):
        pair_table(rows).to_parquet(path)
    else:
        pair_table(rows).to_csv(path, index=False)
    return path


def remade(pairs: Any, name: str, changes: Sequence[tuple[str, int, int]]) -> Any:
    """A Similarity with some bytes of one of its arrays changed."""
    import partita as pt

    arrays = {own: getattr(pairs, own) for own in ("offsets", "neighbors", "probabilities")}
    data = changed(arrays[name].tobytes(), changes)
    whole = len(data) // arrays[name].itemsize * arrays[name].itemsize
    arrays[name] = np.frombuffer(data[:whole], arrays[name].dtype)
    return pt.Similarity(**arrays, names=pairs.names, default=pairs.default)
