"""The table of a block model's blocks: counts, posterior means and intervals, and what edges carry."""

from __future__ import annotations

from typing import Any

from partita.models.networks.fit import Blocks
from partita.results.tables import Column, Table

BLOCKS_LISTED = 400
CATEGORIES_LISTED = 12
EDGE_MODELS = {
    "binary": "binary (Bernoulli)",
    "counts": "counts (Poisson)",
    "real": "real weights (Normal) on edges that are there or not (Bernoulli)",
    "categories": "categories (Dirichlet) of edges that are there or not (Bernoulli)",
    "signed": "signs (Dirichlet) of edges that are there or not (Bernoulli)",
}


def all_blocks(blocks: Blocks) -> Table:
    """One row per ordered pair of clusters, for a file: edges, dyads, the parameter, and what edges carry."""
    figures: dict[str, Any] = {name: getattr(blocks, name) for name in ("edges", "dyads", "mean", "lower", "upper")}
    figures |= {} if blocks.marks is None else blocks.marks.columns()
    cells = [(k, m) for k in range(blocks.mean.shape[0]) for m in range(blocks.mean.shape[1])]
    columns = (Column("from", "cluster"), Column("to", "cluster"), *(Column(name, "rate") for name in figures))
    rows = [(*at, *(values[at].item() for values in figures.values())) for at in cells]
    return Table("blocks", "Blocks", columns, rows)


def blocks_table(blocks: Blocks, pairs: list[tuple[int, int]], names: tuple[str, str, str, str], counts: bool) -> Table:
    """One row per pair of clusters, densest first.

    Parameters
    ----------
    names : four str
        The columns of the two clusters, of the edges between them, and of the places where edges could be.
    counts : bool
        Whether edges are counted, so that a block has a rate instead of a probability.
    """
    pairs = sorted(pairs, key=lambda pair: -blocks.mean[pair])
    what, level = "rate" if counts else "probability", f"{blocks.level:.0%}"
    marks, carried = _marks(blocks)
    columns = (
        *(Column(name, "cluster") for name in names[:2]),
        *(Column(name, "number") for name in names[2:]),
        Column(what.capitalize(), "rate", "Posterior mean given the partition"),
        Column(f"{level} from", "rate"),
        Column(f"{level} to", "rate"),
        *marks,
    )
    cells = (blocks.mean, blocks.lower, blocks.upper, *carried)
    rows = [
        (*at, int(blocks.edges[at]), int(blocks.dyads[at]), *(float(values[at]) for values in cells))
        for at in pairs[:BLOCKS_LISTED]
    ]
    note = "" if len(pairs) <= BLOCKS_LISTED else f"The {BLOCKS_LISTED} densest of {len(pairs):,} blocks."
    return Table("blocks", f"Connection {what} of each pair of clusters, densest first", columns, rows, note=note)


def _marks(blocks: Blocks) -> tuple[tuple[Column, ...], list[Any]]:
    """Columns of what edges carry: the mean weight with its interval, or the probability of each category."""
    marks, level = blocks.marks, f"{blocks.level:.0%}"
    if marks is None:
        return (), []
    if marks.probabilities is not None:
        names = marks.categories[:CATEGORIES_LISTED]
        columns = tuple(Column(f"P({name})", "rate", help="Of edges that are there") for name in names)
        return columns, [marks.probabilities[:, :, c] for c in range(len(names))]
    titles = ("Mean weight", f"Weight {level} from", f"Weight {level} to")
    help_text = "Of edges that are there, given the partition"
    return tuple(Column(title, "rate", help=help_text) for title in titles), [marks.mean, marks.lower, marks.upper]
