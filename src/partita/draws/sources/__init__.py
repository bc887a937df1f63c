"""Anything that holds draws, as blocks of cells: one module per kind of container."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from partita._support.errors import ArgumentError, Setting
from partita.draws.sources.long import Names
from partita.draws.sources.source import Block, Source, array_source, joined
from partita.draws.sources.tables import is_table, table_source
from partita.draws.sources.xarrays import is_xarray, xarray_source

__all__ = ["Block", "Source", "is_chain", "open_source"]


def open_source(draws: Any, variable: str | None = None, long: Names | None = None) -> Source:
    """The blocks of any supported object, recognised by its attributes, so that no library need be imported."""
    if isinstance(draws, str | PurePath):
        raise TypeError(f"draws is the name {str(draws)!r}; read_draws reads files")
    if is_table(draws) and not is_chain(draws):  # the chain of a latent block model has columns too
        return table_source(draws, variable, long)
    if _is_list_of_chains(draws):
        return joined([open_source(chain, variable, long) for chain in draws])
    if long is not None:
        told = f" names the columns of a table, but draws is of type {type(draws).__name__}"
        raise ArgumentError(Setting("long", tuple(long)), told)
    if is_xarray(draws):
        return xarray_source(draws, variable)
    if variable is not None:
        told = " names a variable of a table or an ArviZ or xarray object, but draws is of type "
        raise ArgumentError(Setting("variable", variable), f"{told}{type(draws).__name__}")
    if is_chain(draws):
        source = array_source(draws.labels, getattr(draws, "names", None))
        return replace(source, alone_is_noise=getattr(getattr(draws, "model", None), "alone_is_noise", False))
    if draws is None or isinstance(draws, Mapping | Set | Iterator) or hasattr(draws, "tocsr"):
        raise TypeError(
            f"draws is of type {type(draws).__name__}; it must be a list of partitions, a dense array, a table, "
            "an ArviZ or xarray object, a chain or a sample"
        )
    return array_source(draws)


def is_chain(draws: Any) -> bool:
    """Whether the draws are those of a sampler of partita, with the data that it saw."""
    return getattr(draws, "__partita_chain__", False) is True


def _is_list_of_chains(draws: Any) -> bool:
    if not isinstance(draws, list | tuple) or not draws:
        return False
    return all(is_table(d) or is_xarray(d) or getattr(d, "ndim", 0) == 2 for d in draws)
