"""Prints the oldest versions of the dependencies that pyproject.toml declares, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

DECLARED = re.compile(r"(?P<name>[\w-]+)>=(?P<version>[\d.]+)")


def oldest(project: Path) -> list[str]:
    """`name==version` for each lower bound of a dependency or an extra."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    every = [*table["dependencies"], *chain.from_iterable(table["optional-dependencies"].values())]
    found = {match["name"]: match["version"] for match in map(DECLARED.match, every) if match}
    return [f"{name}=={version}" for name, version in sorted(found.items())]


if __name__ == "__main__":
    print("\n".join(oldest(Path(__file__).parents[1] / "pyproject.toml")))
