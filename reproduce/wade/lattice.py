"""Figures 1 to 6: the lattice of the partitions of four items, stretched and with balls, and the simulated data."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot

import frame
import partita as pt
from partita import plots
from wade import examples

CENTRE = np.array([0, 0, 1, 1])  # {1, 2}, {3, 4}
OTHER = np.array([0, 1, 2, 1])  # {1}, {3}, {2, 4}
ONE, APART = np.array([0, 0, 0, 0]), np.array([0, 1, 2, 3])
SINGLETON = np.array([0, 1, 1, 1])  # {1}, {2, 3, 4}
TITLE = "Figures 1 to 6"
#: By loss: from one cluster to CENTRE, OTHER, APART and SINGLETON, and from CENTRE to OTHER, as the captions say.
PRINTED = {"vi": (1.0, 1.5, 2.0, 0.811, 1.5), "binder": (0.5, 0.625, 0.75, None, 0.375)}


def write(page: frame.Page) -> None:
    page.section(
        f"{TITLE}: the lattice of partitions, and the simulated data",
        "Partitions of four items. Distances as in the captions of Figures 2 and 3: from the partition with one "
        "cluster, and between {1, 2}, {3, 4} and {1}, {3}, {2, 4}.",
    )
    for loss, theirs in PRINTED.items():
        write_distances(page, loss, theirs)
    draw_lattices(page)
    page.figure(draw_data(), "figure-06", "Figure 6: data sets drawn as in Examples 1 and 2, coloured by component")


def write_distances(page: frame.Page, loss: str, theirs: tuple[float | None, ...]) -> None:
    pairs = {
        "from one cluster to {1, 2}, {3, 4}": (ONE, CENTRE),
        "from one cluster to {1}, {3}, {2, 4}": (ONE, OTHER),
        "from one cluster to four": (ONE, APART),
        "from one cluster to {1}, {2, 3, 4}": (ONE, SINGLETON),
        "from {1, 2}, {3, 4} to {1}, {3}, {2, 4}": (CENTRE, OTHER),
    }
    for (name, (x, y)), printed in zip(pairs.items(), theirs, strict=True):
        page.row(name, pt.partition_loss(x, y, loss), printed, column={"vi": "VI", "binder": "Binder"}[loss])


def draw_lattices(page: frame.Page) -> None:
    drawn = {
        1: ({}, "the lattice of the partitions of four items"),
        2: ({"stretch": "vi"}, "the lattice stretched by VI"),
        3: ({"stretch": "binder"}, "the lattice stretched by Binder's loss"),
        4: ({"stretch": "vi", "center": CENTRE}, "VI from {1, 2}, {3, 4}: balls are what is as dark or darker"),
        5: ({"stretch": "binder", "center": CENTRE}, "Binder's loss from {1, 2}, {3, 4}"),
    }
    for number, (settings, caption) in drawn.items():
        figure = plots.hasse(4, **settings).figure
        page.figure(figure, f"figure-{number:02d}", f"Figure {number}: {caption}")


def draw_data() -> pyplot.Figure:
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharex=True, sharey=True)
    for example, ax in zip((1, 2), axes, strict=True):
        points, truth = examples.generate(example, 0)
        plots.points(points, pt.canonical(truth), ax=ax)
        ax.set(title=f"Example {example}", xlabel="x₁", ylabel="x₂")
    return figure
