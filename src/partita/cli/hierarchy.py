"""`partita hierarchy`: nested clusterings from fine to coarse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import partita as pt
from partita._support.atomic import atomic_file
from partita.cli.deliver import Delivery, presented
from partita.cli.given import refuse
from partita.cli.option import opt
from partita.cli.options import DrawsOptions, Json, SearchOptions
from partita.cli.outputs import check_new_file
from partita.cli.steps import step


def run(
    reading: DrawsOptions,
    searching: SearchOptions,
    finest: Annotated[
        int | None, opt("Number of clusters of the finest level.", shown="95th percentile of the number of clusters")
    ] = None,
    newick: Annotated[Path | None, "File for the tree in Newick format."] = None,
    force: Annotated[bool, "Replace an existing file."] = False,
    json: Json = False,
) -> None:
    """Nested clusterings from fine to coarse around the estimate, with the posterior support of every cluster.

    Example: partita hierarchy draws.csv --newick tree.nwk --seed 1
    """
    if newick is None:
        refuse(["force"], "is for the file of --newick")
    else:
        check_new_file(newick, force)
    best = searching.estimate(reading.sample())
    with step("tree of clusterings"):
        tree = pt.hierarchy(best, finest=finest)
    if newick is not None:
        with atomic_file(newick) as temporary:
            temporary.write_text(tree.newick() + "\n", encoding="utf-8")
    facts = {"levels": [level.tolist() for level in tree.levels], "expected_losses": tree.expected_loss.tolist()}
    facts |= {"newick": tree.newick(), "nodes": _nodes(tree)}
    delivery = Delivery(None)
    delivery(presented(best, [tree]), facts=facts, printed={}, text=_text(tree))
    delivery.finish(None, json=json)


def _nodes(tree: pt.Hierarchy) -> list[dict[str, object]]:
    from partita.results.presentation import plain

    support = tree.support
    columns = {
        "size": tree.members.sum(axis=1),
        "parent": tree.parents,
        "first_level": tree.first_level,
        "support": support.transfer,
        "compatible": support.compatible,
        "together": support.together,
        "exact": support.exact,
    }
    rows = zip(*(plain(column) for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _text(tree: pt.Hierarchy) -> str:
    """One line per level."""
    import numpy as np

    rows = [
        f"{len(tree.levels)} nested clusterings; * is the estimate.",
        "clusters, expected loss, support of the new cluster:",
    ]
    for level, labels in enumerate(tree.levels):
        new = [node for node in range(len(tree.parents)) if tree.first_level[node] == level] if level else []
        known = [f"{tree.support.transfer[n]:.2f}" for n in new if not np.isnan(tree.support.transfer[n])]
        mark = " *" if level == tree.estimate_level else ""
        rows.append(f"  {labels.max() + 1}{mark}  {tree.expected_loss[level]:.6g}  {' '.join(known)}")
    return "\n".join(rows)
