"""Bayesian cluster analysis: from draws, data or networks to one clustering, with its uncertainty."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

# Modules are imported when a name is first used, so that `partita --help` starts at once. __init__.pyi, which type
# checkers read too, says where each public name lives.
with open(f"{__file__}i", encoding="utf-8") as _stub:
    _lines = [line.split() for line in _stub if line.startswith("from partita")]
_PACKAGES = [name for _, module, _, name, *_ in _lines if module == "partita"]
_MODULE_OF = {name: module for _, module, _, name, *_ in _lines if module != "partita"}

__all__ = sorted([*_MODULE_OF, *_PACKAGES])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("partita")
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    elif name in _PACKAGES:
        value = import_module(f"partita.{name}")
    else:
        raise AttributeError(f"module 'partita' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
