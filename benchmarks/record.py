"""Results as CSV with the machine, the date and the command in comment lines; `benchmarks.page` reads them."""

from __future__ import annotations

import csv
import gzip
import io
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def write_result(name: str, rows: Iterable[Mapping[str, Any]], **about: str) -> Path:
    """Writes benchmarks/results/NAME.csv; `about` adds lines such as note="CPU seconds"."""
    table = list(rows)
    facts = {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "command": command(name), **about}
    path = RESULTS / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in facts.items())
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return path


def write_runs(name: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes benchmarks/results/runs/NAME.csv.gz: single runs, from which tables are made."""
    table, text = list(rows), io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    (RESULTS / "runs" / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def read_runs(name: str) -> list[dict[str, str]]:
    """The single runs that were written; none without a file."""
    path = RESULTS / "runs" / f"{name}.csv.gz"
    if not path.exists():
        return []
    return list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))


def machine() -> str:
    """Processor, cores and Python, without the machine's name."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def command(name: str) -> str:
    return " ".join(["python -m", f"benchmarks.{name}", *sys.argv[1:]])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
