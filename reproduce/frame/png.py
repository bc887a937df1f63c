"""Figures as small pictures."""

from __future__ import annotations

import io
from typing import Any

PNG_BYTES = 100_000


def small_png(figure: Any) -> bytes:
    """The figure as a PNG of at most 100 KB: 256 colours, and as many dots an inch as fit."""
    from PIL import Image

    for dots in (110, 90, 75, 60):
        drawn, small = io.BytesIO(), io.BytesIO()
        figure.savefig(drawn, format="png", dpi=dots)
        Image.open(drawn).convert("RGB").quantize(256).save(small, format="png", optimize=True)
        if small.tell() <= PNG_BYTES:
            return small.getvalue()
    raise ValueError(f"the figure takes {small.tell()} bytes even at 60 dots an inch")
