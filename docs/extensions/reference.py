"""The API reference: a page of tables over the public names, and docstrings as Sphinx wants them.

The names come from `partita._HOME` and from `__all__` of the public modules: a new name is on the page without a line
written for it.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from listed_names import split_names

import partita

#: Headings of the page, and the home modules under each.
GROUPS = {
    "From draws to an estimate": (
        "sample",
        "io",
        "estimate",
        "search.settings",
        "weight_path",
        "held_out",
        "label_files",
    ),
    "Losses": ("losses", "similarity", "agreement"),
    "How sure": ("uncertainty", "mixing"),
    "Pair probabilities and constraints": (
        "pair_probabilities",
        "pair_losses",
        "pair_estimate",
        "search.constraints",
        "search.components",
    ),
    "Reports and profiles": ("report", "report.reopen", "profiles"),
    "Partitions": ("partitions",),
}
#: What stands under a heading: what the names are for, and where to begin.
INTRODUCTIONS = {
    "From draws to an estimate": (
        "`estimate` is the function to begin with: it takes draws in any form that `as_sample` understands "
        "and returns an `Estimate`. `Search` says how much effort to spend, `weights_for` finds the weights "
        "of a loss for a number of clusters, and `write_labels` writes the answer for other programs."
    ),
    "Losses": (
        "A loss says how far two partitions are apart. `estimate` takes its name in lower case, such as "
        '`"vi"`, or an object with weights, such as `pt.VI(a=0.5, b=1)`. `expected_loss` evaluates any partition '
        "against draws; `compare_partitions` lists every measure for two partitions."
    ),
    "How sure": (
        "Each function takes an `Estimate`, or labels and draws. `credible_ball` is the usual summary; "
        "`item_certainty` and `items_to_check` name the uncertain items, `modes` looks for several answers, "
        "`partial_clustering` clusters only what is sure, and `diagnostics` looks at the chains."
    ),
    "Pair probabilities and constraints": (
        "`as_similarity` takes a matrix or a list of pairs, for example from record linkage; `estimate` takes "
        "its result in place of draws. `Constraints` says which items must be together or apart."
    ),
    "Reports and profiles": (
        "`report` writes one page about any result, and `read_report` opens it again as data. `profiles` says "
        "what makes each cluster of a table."
    ),
    "Partitions": (
        "Labels stand for partitions: `canonical` renumbers them in order of first appearance, and two sets "
        "of labels stand for the same partition if their canonical labels are equal."
    ),
    "Models": (
        "Models turn data into draws (`sample`) or into the partition of largest exact ICL (`maximize`). They "
        "are scikit-learn estimators too: `fit`, `fit_predict`, `labels_`."
    ),
    "Clustering ensembles": (
        "Many clusterings of the same items, one column each, into one: `consensus` is the nearest to all, "
        "`NBCE` a model with probabilities."
    ),
    "Figures": (
        "Functions that draw with matplotlib on the axes that you give, or on new ones; they take an "
        "`Estimate` where they take labels."
    ),
    "Data sets": ("Small data sets for examples and tests, and generators of draws."),
    "Many machines": ("The same estimates, chains and ensembles on a Dask cluster."),
}
#: Modules whose names are used with the module's; others that are not at home in `_HOME` get their own name as heading.
MODULES = {
    "models": "Models",
    "ensembles": "Clustering ensembles",
    "plots": "Figures",
    "datasets": "Data sets",
    "distributed": "Many machines",
}
#: These stand between the names of a formula, and reStructuredText would read them as markup.
MARKUP = re.compile(r"(?<!\\)(\||\*+|_(?=[\s)\].,;:]|$))")


def names_of_page() -> dict[str, list[str]]:
    """Heading -> full names, every public name once."""
    grouped = {module for modules in GROUPS.values() for module in modules}
    rest = [module for module in partita._HOME if module not in grouped | set(MODULES)]
    groups = {**GROUPS, **({"More": tuple(rest)} if rest else {})}
    page = {
        heading: [f"partita.{name}" for module in modules for name in partita._HOME.get(module, "").split()]
        for heading, modules in groups.items()
    }
    for module in partita._PACKAGES:
        names = getattr(import_module(f"partita.{module}"), "__all__", ())
        if module in MODULES or module not in partita._HOME:
            page[MODULES.get(module, module.capitalize())] = [f"partita.{module}.{name}" for name in names]
    return {heading: names for heading, names in page.items() if names}


def write_page(path: Path) -> None:
    """The page as Markdown with a table for each heading; written only if it changed."""
    lines = ["# API reference", "", "`import partita as pt` gives every name below. Each has an example that runs.", ""]
    for heading, names in names_of_page().items():
        lines += [
            f"## {heading}",
            "",
            *([INTRODUCTIONS[heading], ""] if heading in INTRODUCTIONS else []),
            "```{eval-rst}",
            ".. autosummary::",
            "   :toctree:",
            "   :nosignatures:",
            "",
        ]
        lines += [*(f"   {name}" for name in names), "```", ""]
    text = "\n".join(lines)
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def file_names() -> dict[str, str]:
    """Classes that differ from a function by a capital only need another file where file systems ignore case."""
    names = [name for group in names_of_page().values() for name in group]
    small = {name for name in names if name == name.lower()}
    return {name: f"{name}-class" for name in names if name not in small and name.lower() in small}


def escape_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with formulas: |S|, Σ_S and a * b are no markup. Examples stay as they are."""
    in_examples = False
    for number, line in enumerate(lines):
        if number + 1 < len(lines) and re.fullmatch(r"\s*-{4,}", lines[number + 1]):
            in_examples = line.strip() == "Examples"
        if not in_examples and not line.lstrip().startswith((">>>", "...")):
            lines[number] = _outside_literals(line)


def one_entry_per_name(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = split_names(lines)


#: Stands for the colon of a property's docstring, in which napoleon would look for a type.
COLON = "\ue000"


def hide_colons(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if what in ("property", "attribute"):
        lines[:] = [line.replace(":", COLON) for line in lines]


def show_colons(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = [line.replace(COLON, ":") for line in lines]


def _outside_literals(line: str) -> str:
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(part if part.startswith("`") else MARKUP.sub(r"\\\1", part) for part in parts)


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this."""
    write_page(Path(app.srcdir) / "api" / "index.md")
    steps = {200: one_entry_per_name, 300: escape_formulas, 400: hide_colons, 600: show_colons}  # napoleon is at 500
    for priority, step in steps.items():
        app.connect("autodoc-process-docstring", step, priority=priority)
    return {"parallel_read_safe": True}
