"""A PartitionSample as the tables and arrays of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita._support.names import default_names
from partita._support.optional import optional
from partita.draws.sources.columns import CHAIN, WEIGHT, is_special
from partita.draws.sources.xarrays import WEIGHT_VARIABLE

if TYPE_CHECKING:
    from partita.draws.sample import PartitionSample


def column_names(sample: PartitionSample) -> tuple[str, ...]:
    """One name per item: its own, or item0, item1, ..."""
    return sample.names or default_names(sample.n_items)


def file_columns(sample: PartitionSample) -> tuple[str, ...]:
    """The item names as columns of a file; reserved names raise an error, since they would not be read as items."""
    names = column_names(sample)
    special = next((name for name in names if is_special(name.strip())), None)
    if special is not None:
        raise ValueError(f"an item is named {special!r}, which is reserved in a table; rename it")
    return names


def extra_columns(sample: PartitionSample, chain: str = CHAIN, weight: str = WEIGHT) -> dict[str, NDArray[Any]]:
    """The columns of a table besides the labels: chains if they are known, weights if they differ."""
    extra = {} if sample.chains is None else {chain: sample.chains}
    return extra | {weight: sample.draw_weights} if sample.is_weighted else extra


def to_pandas(sample: PartitionSample) -> Any:
    pd = optional("pandas", "to_pandas needs pandas", "io")
    table = pd.DataFrame(sample.to_numpy(), columns=list(column_names(sample)))
    for position, (name, values) in enumerate(extra_columns(sample).items()):
        table.insert(position, name, values)
    return table


def to_arrow(sample: PartitionSample) -> Any:
    pa = optional("pyarrow", "Arrow tables need pyarrow", "io")
    extra = extra_columns(sample)
    columns = [*extra.values(), *sample.to_numpy().T]
    return pa.table([pa.array(c) for c in columns], names=[*extra, *file_columns(sample)])


def to_xarray(sample: PartitionSample) -> Any:
    xr = optional("xarray", "to_xarray needs xarray", "arviz")
    rows = draws_by_chain(sample)
    dims = ("chain", "draw", "item")
    coords: dict[str, Any] = {} if sample.names is None else {"item": list(sample.names)}
    variables: dict[str, Any] = {"labels": (dims, sample.to_numpy()[rows])}
    if sample.is_weighted:
        variables[WEIGHT_VARIABLE] = (dims[:2], sample.draw_weights[rows])
    coords["chain"], coords["draw"] = np.arange(rows.shape[0]), np.arange(rows.shape[1])
    return xr.Dataset(variables, coords)


def draws_by_chain(sample: PartitionSample) -> NDArray[np.int64]:
    """(chains, draws) array of the draws' numbers; the chains must have equal lengths."""
    if sample.chains is None:
        return np.arange(sample.n_draws)[None, :]
    lengths = np.bincount(sample.chains)
    if (lengths != lengths[0]).any():
        raise ValueError(
            f"the chains have different lengths ({', '.join(map(str, lengths))}), "
            "which arrays of (chain, draw, item) cannot hold; use csv, parquet or npz"
        )
    return np.argsort(sample.chains, kind="stable").reshape(len(lengths), -1)
