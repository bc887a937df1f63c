"""How options are declared: an annotation with a sentence for `--help`, or `opt` where there is more to say.

`steps: Annotated[int, "Number of steps."] = 3` is the option --steps, `Annotated[bool, "..."] = False` a flag.
"""

from __future__ import annotations

from typing import Any

import typer


def opt(told: str, *flags: str, shown: str | None = None, **more: Any) -> Any:
    """An option with flags of its own, or with words in place of its default."""
    return typer.Option(*flags, help=told, show_default=shown or True, **more)


def arg(told: str, **more: Any) -> Any:
    """An argument."""
    return typer.Argument(help=told, show_default=False, **more)
