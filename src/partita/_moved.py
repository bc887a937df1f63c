"""Modules that have moved since 0.1: their old names still import them, with a DeprecationWarning."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: Old name -> new name, both below `partita`.
MOVED = {
    "bounds": "uncertainty.bounds",
    "certainty": "uncertainty.certainty",
    "comparison": "agreement",
    "diagnostics": "uncertainty.diagnostics",
    "ensembles.base": "ensembles.base_clusterings",
    "models.block_fit": "models.blocks.fit",
    "models.graph": "models.blocks.graph",
    "models.lbm": "models.blocks.lbm",
    "models.sbm": "models.blocks.sbm",
    "models.variational": "models.blocks.rivals",
    "modes": "uncertainty.modes",
    "partial": "uncertainty.partial",
    "search.found": "search.result",
    "weights": "weight_path",
}


class MovedFinder(MetaPathFinder, Loader):
    """Finds a moved module under its old name; the import gives the module of the new name itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "partita" and name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        new = f"partita.{MOVED[module.__name__.removeprefix('partita.')]}"
        warnings.warn(f"{module.__name__} is now {new}", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = import_module(new)


def install() -> None:
    """Makes the old names importable."""
    sys.meta_path.append(MovedFinder())
