"""The matrix of a network in the order of its clusters, as a picture."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from partita.models.blocks.fit import BlockFit

PIXELS = 600  # in each direction; with more nodes, a pixel is a mean over several


def matrix_pixels(fit: BlockFit) -> NDArray[np.float64]:
    """The share of linked dyads at each pixel of the matrix in the order of clusters, rows from the top."""
    n = len(fit.labels)
    size = min(n, PIXELS)
    place = np.empty(n, np.int64)
    place[fit.order] = np.arange(n) * size // n
    entries = fit.graph.adjacency.tocoo()
    cells = np.bincount(place[entries.row] * size + place[entries.col], minlength=size * size)
    width = np.bincount(place, minlength=size)
    shares: NDArray[np.float64] = cells.reshape(size, size) / np.outer(width, width)
    return shares


def matrix_image(fit: BlockFit) -> str:
    """The matrix as a PNG in a data URI: one pixel per dyad, or the mean over several, darker for more edges."""
    shares = matrix_pixels(fit)
    top = float(np.quantile(shares[shares > 0], 0.98)) if (shares > 0).any() else 1.0
    grey = (255 * (1 - np.clip(shares / top, 0, 1) ** 0.7)).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(_png(grey)).decode("ascii")


def _png(grey: NDArray[np.uint8]) -> bytes:
    """An 8-bit greyscale PNG (ISO/IEC 15948)."""
    height, width = grey.shape
    rows = np.hstack([np.zeros((height, 1), np.uint8), grey]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
