"""The sanitized extension: a package of links to src/partita beside it, in a Python that loads the sanitizers first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "sanitize"
INSIDE = "PARTITA_FUZZ_SANITIZED"


def enter(words: list[str]) -> None:
    """Starts this program again with the sanitized extension, unless this is that start."""
    if INSIDE not in os.environ:
        _start_again(words)


def _start_again(words: list[str]) -> NoReturn:
    modules = sorted(BUILD.glob("_core.*.so"))
    if not modules:
        sys.exit(f"{BUILD} has no extension: make fuzz builds it")
    place = _linked_package(modules[0])
    compiler = os.environ.get("CXX", "c++")
    found = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in ("libasan.so", "libstdc++.so")
    ]
    environment = os.environ | {
        INSIDE: "1",
        "LD_PRELOAD": " ".join(found),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=6000",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        # an editable install would be found first by its hook: -S leaves the hook out, and this leaves the rest in
        "PYTHONPATH": os.pathsep.join([str(place), str(ROOT), *(entry for entry in sys.path if entry)]),
    }
    os.execve(sys.executable, [sys.executable, "-S", "-m", "fuzz", *words], environment)


def _linked_package(module: Path) -> Path:
    place = BUILD / "python"
    package = place / "partita"
    package.mkdir(parents=True, exist_ok=True)
    for link in package.iterdir():
        if link.is_symlink():
            link.unlink()
    for entry in [*(ROOT / "src" / "partita").iterdir(), module]:
        if entry.name != "__pycache__":
            (package / entry.name).symlink_to(entry)
    return place
