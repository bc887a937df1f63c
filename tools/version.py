"""Copies the version of pyproject.toml, the only place where it is written by hand, to the files that repeat it.

`python tools/version.py` writes; with `--check` it only lists the files that differ, and ends with 1 if there are any.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Files with the version, and what stands before it.
COPIES = {
    "CITATION.cff": r"^version: ",
    "r/DESCRIPTION": r"^Version: ",
    "packaging/conda/recipe.yaml": r"^  version: (?=\d)",
    "docs/formats.md": r'"library": "',
}


def version(root: Path = ROOT) -> str:
    """The version of the project."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def update(root: Path = ROOT, *, write: bool = True) -> list[str]:
    """The files whose version differs; they are written anew if `write`."""
    changed = []
    for name, before in COPIES.items():
        path = root / name
        text = path.read_text(encoding="utf-8")
        new, count = re.subn(rf"({before})[\w.]+", rf"\g<1>{version(root)}", text, flags=re.MULTILINE)
        if not count:
            raise SystemExit(f"{name} has no version")
        if new != text:
            changed.append(name)
            if write:
                path.write_text(new, encoding="utf-8")
    return changed


if __name__ == "__main__":
    differ = update(write="--check" not in sys.argv)
    print("\n".join(differ) or f"all files have version {version()}")
    sys.exit(1 if differ and "--check" in sys.argv else 0)
