"""The matrix of a network in the order of its clusters, as a map that can be zoomed."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.names import names_or_none
from partita.models.networks.fit import BlockFit

PIXELS = 600  # in each direction; with more nodes, a cell is a mean over several
STEPS = 100  # of the shade of a cell
DARKER = 0.7  # power of the share that gives the shade, so that sparse cells can be seen
SHADED = 0.98  # of the cells with edges; denser ones have the darkest shade


def matrix_pixels(fit: BlockFit) -> NDArray[np.float64]:
    """The share of linked dyads at each cell of the matrix in the order of clusters, rows from the top."""
    n = len(fit.labels)
    size = min(n, PIXELS)
    place = np.empty(n, np.int64)
    place[fit.order] = np.arange(n) * size // n
    entries = fit.graph.adjacency.tocoo()
    cells = np.bincount(place[entries.row] * size + place[entries.col], minlength=size * size)
    width = np.bincount(place, minlength=size)
    shares: NDArray[np.float64] = cells.reshape(size, size) / np.outer(width, width)
    return shares


def matrix_map(fit: BlockFit) -> dict[str, Any]:
    """The matrix as map.js draws it: a shade from 0 to 100 for every cell, and what each shade means."""
    n, shares = len(fit.labels), matrix_pixels(fit)
    size = len(shares)
    top = float(np.quantile(shares[shares > 0], SHADED)) if (shares > 0).any() else 1.0
    shades = np.ceil(STEPS * np.clip(shares / top, 0, 1) ** DARKER).astype(np.uint8)
    stops = np.cumsum(np.bincount(fit.labels))
    names = names_or_none(fit.graph.names)
    return {
        "z": base64.b64encode(shades.tobytes()).decode("ascii"),
        "bins": size,
        "edges": [-(-at * n // size) for at in range(size + 1)],
        "names": [str(fit.graph.names[i]) for i in fit.order] if n <= PIXELS and names is not None else None,
        "clusters": [
            [k, int(start), int(stop)] for k, (start, stop) in enumerate(zip([0, *stops[:-1]], stops, strict=True))
        ],
        "unit": "node" if size == n else "nodes",
        "values": _meanings(top) if size < n else ["no edge", *["an edge"] * STEPS],
        "steps": size == n,
        "legend": ["no edge", f"{top:.2g} of the dyads or more"] if size < n else ["no edge", "an edge"],
    }


def _meanings(top: float) -> list[str]:
    """What each shade says of the share of linked dyads."""
    shares = [top * (step / STEPS) ** (1 / DARKER) for step in range(STEPS + 1)]
    return [
        "no edge",
        *(f"about {share:.2g} of the dyads linked" for share in shares[1:-1]),
        f"{top:.2g} or more linked",
    ]
