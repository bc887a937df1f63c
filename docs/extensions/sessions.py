"""The code blocks of a page, run in order as one session.

Sphinx puts under each Python block what it printed, warnings included, and drew, so that no output in the documentation
is written by hand; tests/repository/test_docs.py runs the same blocks. A fence ```python runs, and a warning is an
error. A fence ```python warns shows a warning, and must give one. A fence ```python no-run needs software that is not
installed here. In a ```console or ```sh fence the lines that call partita run.
"""

from __future__ import annotations

import ast
import io
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ ]*$\n?", re.MULTILINE | re.DOTALL)
FIGURES = "_figures"
#: What Python does not show unless it is asked to.
QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after it, the code, and where it stands in the page."""

    language: str
    marks: tuple[str, ...]
    code: str
    line: int
    start: int
    end: int

    @property
    def runs(self) -> bool:
        return self.language == "python" and "no-run" not in self.marks


def find_blocks(page: str) -> list[Block]:
    """All fenced blocks of a Markdown page, in order."""
    blocks = []
    for match in FENCE.finditer(page):
        language, *marks = match["info"].split() or [""]
        line = page.count("\n", 0, match.start()) + 1
        blocks.append(Block(language, tuple(marks), match["code"], line, match.start(), match.end()))
    return blocks


def find_commands(block: Block) -> list[str]:
    """The partita commands of a console block, without what they are piped to."""
    if block.language not in ("console", "sh", "bash"):
        return []
    lines = (line.removeprefix("$ ").split("  #")[0].split("|")[0].strip() for line in block.code.splitlines())
    return [line for line in lines if line.startswith("partita ")]


class UnexpectedWarning(Exception):
    """A block warned without the mark ```python warns, or has the mark and did not warn."""


@dataclass(frozen=True)
class Output:
    """What a block printed, warnings and its last value included; that value as HTML where it knows how."""

    text: str
    html: str = ""


@dataclass
class Session:
    """Names that one block defines are there in the next; files are written to a folder of the session's own."""

    page: str
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, block: Block) -> Output:
        """Runs a block. Its last line, if it is an expression, is shown as a notebook would show it."""
        # Blank lines in front, so that a traceback names the line of the page.
        tree = ast.parse("\n" * block.line + block.code, self.page)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, page = io.StringIO(), ""
        with chdir(self.folder), redirect_stdout(printed), redirect_stderr(printed), self._warnings(block):
            exec(compile(tree, self.page, "exec"), self.names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), self.page, "eval"), self.names)
                if value is not None and not _is_drawing(value):
                    print(repr(value))
                    page = getattr(value, "_repr_html_", str)()
        return Output(printed.getvalue(), page)

    @contextmanager
    def _warnings(self, block: Block) -> Iterator[None]:
        """Prints each warning in one line, and checks that the block is marked if and only if there is one."""
        seen = []

        def show(message: Warning | str, category: type[Warning], *_: Any) -> None:
            seen.append(f"{category.__name__}: {message}")
            print(seen[-1])

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for category in QUIET:
                warnings.simplefilter("ignore", category)
            warnings.showwarning = show
            yield
        if bool(seen) != ("warns" in block.marks):
            what = "\n".join(seen) or "marked as a block that warns, and does not"
            raise UnexpectedWarning(f"{self.page}, line {block.line}: {what}")


def _is_drawing(value: Any) -> bool:
    """Whether a value is a figure or axes, which are shown and not printed."""
    first = value.flat[0] if hasattr(value, "flat") and getattr(value, "size", 0) else value
    return type(first).__module__.startswith("matplotlib")


def make_files(folder: Path) -> None:
    """The files that commands may take for granted: small stand-ins for the reader's own. Python blocks make theirs."""
    import numpy as np

    import partita as pt
    from partita.datasets import load_karate, make_draws

    draws = make_draws(n_items=40, n_draws=1200, n_clusters=4, rng=1)
    pt.write_draws(folder / "draws.csv", draws)
    rows = [
        f"{size},{visits},{island}" for size, visits, island in [(1.2, 0, "Dream"), (7.9, 9, "?"), ("", 8, "Biscoe")]
    ]
    (folder / "table.csv").write_text("\n".join(["length,visits,island", *rows * 4]) + "\n", encoding="utf-8")
    for chain, part in enumerate(np.split(draws, 2), start=1):
        pt.write_draws(folder / f"chain{chain}.csv", part)
    np.savetxt(folder / "truth.csv", draws[0], fmt="%d", header="cluster", comments="")
    np.savetxt(folder / "labels.csv", draws[-1], fmt="%d", header="cluster", comments="")
    np.savetxt(folder / "base.csv", draws[:10].T, fmt="%d", delimiter=",")
    points = draws[0][:, None] * 4 + np.random.default_rng(1).normal(size=(40, 2))
    np.savetxt(folder / "data.csv", points, delimiter=",", header="x,y", comments="")
    edges = np.argwhere(np.triu(np.asarray(load_karate().data)))
    pairs = [f"r{i},r{j},{0.9 if i // 3 == j // 3 else 0.1}" for i in range(9) for j in range(i)]
    (folder / "pairs.csv").write_text("\n".join(["left,right,probability", *pairs]) + "\n", encoding="utf-8")
    np.savetxt(folder / "edges.csv", edges, fmt="%d", delimiter=",", header="source,target", comments="")


def with_outputs(page: str, name: str, figures: Path) -> str:
    """The page with the output of each Python block below it. Figures are written to a folder."""
    import matplotlib.pyplot as plt

    blocks = [block for block in find_blocks(page) if block.runs]
    if not blocks:
        return page
    parts, start = [], 0
    with tempfile.TemporaryDirectory() as folder:
        session = Session(name, Path(folder))
        for number, block in enumerate(blocks, start=1):
            output = session.run(block)
            parts.append(page[start : block.end])
            start = block.end
            if output.html:
                parts.append(f"\n```{{raw}} html\n<div class='output'>{output.html}</div>\n```\n")
            elif output.text.strip():
                parts.append(f"\n```{{code-block}} text\n:class: output\n\n{output.text.rstrip()}\n```\n")
            for drawing in plt.get_fignums():
                path = figures / f"{name.replace('/', '-')}-{number}-{drawing}.svg"
                plt.figure(drawing).savefig(path, bbox_inches="tight")
                parts.append(f"\n![What the code above draws](/{FIGURES}/{path.name})\n")
            plt.close("all")
    return "".join([*parts, page[start:]])


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this: every page is run when it is read."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "partita"  # the same picture gives the same file
    figures = Path(app.srcdir) / FIGURES
    figures.mkdir(exist_ok=True)

    def read(app: Any, name: str, source: list[str]) -> None:
        if Path(app.env.doc2path(name)).suffix == ".md":
            source[0] = with_outputs(source[0], name, figures)

    app.connect("source-read", read)
    return {"parallel_read_safe": False}
