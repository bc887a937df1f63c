"""A table of a network's nodes, as `partita blockmodel --table` reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from partita._support.hints import plural
from partita.cli.cluster import profile_tables
from partita.cli.form import first_number
from partita.cli.mixture_table import parse_families, read_mixed
from partita.cli.option import opt

if TYPE_CHECKING:
    from partita.models import LayeredBlockModel
    from partita.models.mixtures.raw import RawTable


@dataclass(frozen=True)
class NodeRows:
    """A table with one row per node, and the families of its columns."""

    table: Annotated[
        Path | None,
        "CSV with one row per node, its name first: the columns and the network then determine the clusters together.",
    ] = None
    family: Annotated[
        list[str] | None,
        opt(
            "NAME=FAMILY of a column of --table, as for cluster; may be repeated.", "--family", metavar="[NAME=]FAMILY"
        ),
    ] = None

    @cached_property
    def read(self) -> RawTable | None:
        """The columns but for the first one, which names the nodes."""
        from partita._support.text.table import read_table
        from partita.models.networks.edge_list import NODES

        if self.table is None:
            return None
        head = read_table(self.table, NODES)
        names = tuple(head.columns[0] if head.row_names is None else head.row_names)
        if not head.has_header or len(set(names)) < len(names):
            raise ValueError(f"{self.table} must have a header, and one row per node with its name in the first cell")
        found = read_mixed(str(self.table), parse_families(self.family), None, as_table=True)
        first = head.names[0] if head.row_names is None else None
        return replace(found, columns=tuple(column for column in found.columns if column.name != first), names=names)

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes that have a row."""
        return () if self.read is None else self.read.names or ()

    def beside(self, model: Any) -> LayeredBlockModel:
        """The model of a network, and of the table beside it."""
        from partita.models import LayeredBlockModel, MixtureDPM

        return LayeredBlockModel({"network": model, "table": MixtureDPM(parse_families(self.family))})

    def described(self, fit: Any, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """The profiles of the clusters, and what is written and printed of them."""
        from partita.profiling.profiles import profiles

        families = parse_families(self.family)
        found = profiles(fit.layers["table"], fit.data["table"], columns=families, rng=seed)
        text = self._only_in_one(fit.data["network"]) + found.text(first_number())
        return found, {"tables": profile_tables(found), "text": text}

    def _only_in_one(self, graph: Any) -> str:
        """What is said of nodes that only the network or only the table has."""
        known = set(self.names)
        linked = graph.adjacency.sum(axis=0) + graph.adjacency.sum(axis=1) > 0
        without, alone = sum(str(name) not in known for name in graph.names), int((~linked).sum())
        parts = [f"{plural(without, 'node')} without a row in the table: all cells missing"] if without else []
        parts += [f"{plural(alone, 'node')} without edges"] if alone else []
        return f"Note: {'; '.join(parts)}.\n" if parts else ""
