"""Tables of a network's nodes: layers whose columns are those of a mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.names import names_or_none
from partita.models.mixtures.base import Base, check_full, core_columns
from partita.models.mixtures.cells import Cells, check_cells, encode
from partita.models.mixtures.dpm import MixtureDPM
from partita.models.mixtures.maximum import IclSearch, proportions_prior
from partita.models.mixtures.raw import RawTable, read_raw
from partita.models.mixtures.schema import choose_schema
from partita.models.networks.core import Network
from partita.models.networks.graph import Graph

START_RUNS = 3  # of the search of a table alone, whose partition is a start of the search of all layers


@dataclass(frozen=True, eq=False)
class NodeTable:
    """The cells of a table with one row per node, and the base measure of its columns."""

    cells: Cells
    base: Base

    @classmethod
    def of(cls, model: MixtureDPM, table: RawTable) -> Self:
        """The cells as the model of a layer sees them."""
        schema = choose_schema(table, model.columns)
        cells = model.projected(encode(table, schema), schema)
        return cls.stored(model, cells, table.place)

    @classmethod
    def stored(
        cls, model: MixtureDPM, cells: Mapping[str, NDArray[Any]], place: Any = "row {}, column {!r}".format
    ) -> Self:
        """The same from the cells of a run's folder."""
        base = model.base(cells)
        check_cells(cells, base.schema)
        check_full(base, cells, place)
        return cls(dict(cells), base)

    @property
    def native(self) -> Any:
        """The columns for the core."""
        return core_columns(self.base, self.cells).native

    def search(self, n0: float) -> IclSearch:
        """The search for the partition of the table alone."""
        n_items = len(self.cells["numbers"])
        native = _core.MixtureColumnsSearch(self.native, proportions_prior(n0, n_items))
        return IclSearch(native, n_items, None, 0.0, n0, {})


class Sources(list[Network]):
    """The networks of several layers, with the tables of the same nodes beside them."""

    def __init__(self, networks: Any = (), tables: Any = ()) -> None:
        super().__init__(networks)
        self.tables: list[NodeTable] = list(tables)


def check_table_layer(model: MixtureDPM, name: str) -> None:
    """Raises an error for settings that a layer cannot have."""
    given = {"select": model.select is not False, "noise": model.noise is not False, "curves": model.curves is not None}
    for setting, is_given in given.items():
        if is_given:
            raise ValueError(f"layer {name!r} has {setting}, which a table beside networks cannot have")


def in_order_of(graph: Graph, X: Any, name: str) -> RawTable:
    """The rows of a table in the order of the nodes, by name if the rows have names; of nodes without a row, every cell
    is missing."""
    table, nodes = read_raw(X), tuple(map(str, graph.names))
    own = table.names
    if own is None or (names_or_none(graph.names) is None and not set(own) <= set(nodes)):
        if table.n_items != len(nodes):
            raise ValueError(
                f"graphs: layer {name!r} has {table.n_items} rows but there are {len(nodes)} nodes; rows that have the"
                " names of nodes may be fewer"
            )
        return table
    place = {row_name: row for row, row_name in enumerate(own)}
    if len(place) < len(own):
        raise ValueError(f"graphs: layer {name!r} has two rows of the same name")
    known = set(nodes)
    stranger = next((row_name for row_name in own if row_name not in known), None)
    if stranger is not None:
        raise ValueError(
            f"graphs: row {stranger!r} of layer {name!r} is not a node; as_graph(edges, nodes=...) also names nodes"
            " without edges"
        )
    return table.at(np.array([place.get(node, -1) for node in nodes]))
