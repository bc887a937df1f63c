"""The tables of benchmarks/results as Markdown with figures: `python -m benchmarks.page FOLDER`; Sphinx does it too.

Every CSV there becomes a section. What a section says of machine, date and command comes from comment lines `# date: …`
at the top of the CSV, or from a JSON file of the same name beside it. A column whose name has "ratio" in it is
summed up by its geometric mean and drawn.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.record import RESULTS

MAX_BARS = 80


@dataclass(frozen=True)
class Result:
    """One CSV: what it is about, and its rows as text."""

    name: str
    about: dict[str, str]
    columns: list[str]
    rows: list[list[str]]

    def numbers(self, column: str) -> np.ndarray:
        """A column as numbers; what is none is NaN."""
        place = self.columns.index(column)
        return np.array([_number(row[place]) for row in self.rows])

    @property
    def ratios(self) -> list[str]:
        return [c for c in self.columns if "ratio" in c and np.isfinite(self.numbers(c)).any()]

    @property
    def keys(self) -> list[str]:
        """The leading columns, which tell the rows apart."""
        words = [c for c in self.columns if np.isnan(self.numbers(c)).all()]
        return words or self.columns[:1]


def read_result(path: Path) -> Result:
    """A CSV with its comment lines and its sidecar."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comments = [line[1:].partition(":") for line in lines if line.startswith("#")]
    about = {key.strip(): value.strip() for key, _, value in comments}
    sidecar = path.with_suffix(".json")
    if sidecar.exists():
        about |= {key: str(value) for key, value in json.loads(sidecar.read_text(encoding="utf-8")).items()}
    if "date" not in about:
        about["date"] = _committed(path)
    table = list(csv.reader(line for line in lines if not line.startswith("#")))
    return Result(path.stem, about, table[0] if table else [], table[1:])


def section(result: Result, figures: Path, link: str) -> str:
    """Heading, facts, ratios, figure and table of one result."""
    facts = [f"- {key}: {value}" for key, value in result.about.items() if value]
    parts = [f"## {result.name}", _purpose(result.name), "\n".join(facts)]
    for column in result.ratios:
        parts.append(_summary(result, column))
        figure = f"{result.name}-{column.replace(' ', '_')}.svg"
        draw(result, column, figures / figure)
        parts.append(f"![{column} of each row of {result.name}]({link}/{figure})")
    parts.append(_table(result))
    return "\n\n".join(part for part in parts if part)


def draw(result: Result, column: str, path: Path) -> None:
    """A dot a row on a logarithmic axis; the line is where both are equal."""
    from matplotlib.figure import Figure

    values = result.numbers(column)
    names = [" ".join(row[result.columns.index(key)] for key in result.keys) for row in result.rows]
    shown = [(name, value) for name, value in zip(names, values, strict=True) if value > 0][:MAX_BARS]
    if not shown:
        return
    figure = Figure(figsize=(7, 1 + 0.17 * len(shown)), layout="constrained")
    axes = figure.subplots()
    heights = np.arange(len(shown))[::-1]
    axes.scatter([value for _, value in shown], heights, s=18, color="#0072b2", zorder=2)
    axes.axvline(1, color="#888888", linewidth=1)
    axes.set(xscale="log", xlabel=column, ylim=(-1, len(shown)))
    axes.set_yticks(heights, [name for name, _ in shown], fontsize=7)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def write_page(folder: Path, figures: Path, link: str) -> Path:
    """All results as one Markdown file; an empty folder gives a sentence that says so."""
    folder.mkdir(parents=True, exist_ok=True)
    figures.mkdir(parents=True, exist_ok=True)
    results = [read_result(path) for path in sorted(RESULTS.glob("*.csv"))]
    sections = [section(result, figures, link) for result in results if result.rows]
    path = folder / "benchmarks.md"
    text = "\n\n".join(sections) or "No results are stored."
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _summary(result: Result, column: str) -> str:
    values = result.numbers(column)
    values = values[np.isfinite(values) & (values > 0)]
    mean = np.exp(np.log(values).mean()) if values.size else np.nan
    return (
        f"**{column}**: geometric mean {mean:.3g} over {values.size} rows, least {values.min():.3g}, "
        f"greatest {values.max():.3g}."
        if values.size
        else ""
    )


def _table(result: Result) -> str:
    """Ratios stand right after the columns that tell the rows apart."""
    first = list(dict.fromkeys([*result.keys, *result.ratios, *result.columns]))
    places = [result.columns.index(column) for column in first]
    head = "| " + " | ".join(column.replace("_", " ") for column in first) + " |"
    rule = "|" + "---|" * len(first)
    body = ["| " + " | ".join(_cell(row[place]) for place in places) + " |" for row in result.rows]
    return "\n".join([head, rule, *body])


def _cell(value: str) -> str:
    number = _number(value)
    if np.isnan(number) or value.strip().lstrip("-").isdigit():
        return "" if value == "nan" else value.replace("|", "\\|")
    return f"{number:.4g}"


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return float("nan")


def _purpose(name: str) -> str:
    """The first line of the benchmark's docstring, if there is one of this name."""
    source = Path(__file__).parent / f"{name}.py"
    if not source.exists():
        return ""
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ")


def _committed(path: Path) -> str:
    """The day of the file's last commit, empty outside a repository."""
    asked = ["git", "-C", str(path.parent), "log", "-1", "--format=%cs", "--", path.name]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    print(write_page(options.folder, options.folder / "figures", "figures"))


if __name__ == "__main__":
    main()
