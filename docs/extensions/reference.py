"""The API reference: a page of tables over the public names by task, and docstrings as Sphinx wants them.

Names of modules such as `partita.plots` come from their `__all__`. Each other public name stands under one heading
below: a name that is missing here, or stands here twice, ends the build.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from listed_names import split_names

import partita

#: Headings of the page, and the names under each: functions first, the most used ones in front.
GROUPS = {
    "From draws to an estimate": (
        "estimate as_sample read_draws write_draws open_sample growing_draws write_labels weights_for Search "
        "Estimate PartitionSample WeightPath HeldOut"
    ),
    "Losses and comparisons of partitions": (
        "VI Binder NVI ID NID OneMinusARI ZeroOne CustomLoss Loss partition_loss expected_loss distances "
        "pairwise_distances compare_partitions adjusted_rand nmi f1 similarity vi_lower_bound pear lau_green"
    ),
    "Uncertainty": (
        "credible_ball item_certainty items_to_check memberships cluster_stability n_clusters_posterior exemplars "
        "modes partial_clustering hierarchy merge_tree cluster_parameters conformal_set compare_posteriors "
        "CredibleBall Memberships Modes PartialClustering Hierarchy ClusterParameters ConformalSet "
        "PosteriorComparison"
    ),
    "Convergence and Monte Carlo error": (
        "diagnostics monitor monte_carlo_error Diagnostics Monitor MonteCarloError MixingWarning"
    ),
    "Lower bounds": ("lower_bound Bound"),
    "Pair probabilities, record linkage and constraints": (
        "as_similarity Constraints update write_linkage read_linkage linkage_quality VILowerBound ApproximateARI "
        "pair_loss Similarity PairEstimate Components Changes LinkageQuality"
    ),
    "Profiles, outcomes and priors": (
        "profiles relate pool prior_clusters sensitivity fuse Profiles Relation PooledSample PriorClusters "
        "Sensitivity FusedEstimate"
    ),
    "Reports": ("report read_report ReportData"),
    "Partitions": ("canonical align_labels meet join refines covers enumerate_partitions bell stirling2"),
    "Interrupted runs": ("resume"),
}
#: What stands under a heading: what the names are for, and where to begin.
INTRODUCTIONS = {
    "From draws to an estimate": (
        "Start with `estimate`: it takes draws in any form that `as_sample` accepts and returns an `Estimate`. "
        "`Search` has the settings of the search, `weights_for` finds the weights of a loss for a number of "
        "clusters, and `write_labels` writes the labels for other programs."
    ),
    "Losses and comparisons of partitions": (
        "A loss is a distance between a true and an estimated partition. `estimate` takes its name in lower case, "
        'such as `"vi"`, or an object with weights, such as `pt.VI(a=0.5, b=1.5)`. `expected_loss` evaluates any '
        "partition on draws; `compare_partitions` lists every measure for two partitions."
    ),
    "Uncertainty": (
        "Each function takes an `Estimate`, or labels and draws. `credible_ball` is the usual summary; "
        "`item_certainty` and `items_to_check` give the uncertain items, `memberships` the probability of each "
        "cluster, `modes` several weighted partitions, and `partial_clustering` a clustering of the certain items "
        "only."
    ),
    "Convergence and Monte Carlo error": (
        "`estimate` checks the chains by itself and warns with a `MixingWarning`. `diagnostics` has the details, "
        "`monitor` decides when a running sampler may stop, and `monte_carlo_error` estimates the variability of "
        "the summary."
    ),
    "Lower bounds": ("`est.bound()` of an `Estimate` is the usual way to call `lower_bound`."),
    "Pair probabilities, record linkage and constraints": (
        "`as_similarity` takes a matrix or a list of pairs, for example from record linkage; `estimate` takes its "
        "result in place of draws and returns a `PairEstimate`. `Constraints` states which items must be together "
        "or apart, and `update` adds new records."
    ),
    "Profiles, outcomes and priors": (
        "`profiles` describes each cluster by the columns of a table, `relate` estimates the relation of the "
        "clusters to an outcome, `sensitivity` shows the influence of the prior, and `fuse` joins mixture "
        "components that form one cluster."
    ),
    "Reports": ("`report` writes one page about any result, and `read_report` opens it again as data."),
    "Partitions": (
        "Labels represent partitions: `canonical` renumbers them in order of first appearance, and two vectors of "
        "labels represent the same partition if their canonical labels are equal."
    ),
    "Interrupted runs": "`resume` continues a run of a sampler from its folder, or extends it.",
    "Models": (
        "Models turn data into draws (`sample`) or into the partition of largest exact ICL (`maximize`). They are "
        "also scikit-learn estimators: `fit`, `fit_predict`, `labels_`."
    ),
    "Clustering ensembles": (
        "One clustering from many, which are given as one column each: `consensus` is the nearest to all, `NBCE` "
        "a model with probabilities, and `stability` runs a clusterer many times and measures which clusters are "
        "recovered."
    ),
    "Figures": (
        "Functions that draw with matplotlib on the axes that you pass, or on new ones; they accept an `Estimate` "
        "in place of labels."
    ),
    "Data sets": ("Small data sets for examples and tests, and a generator of draws."),
    "Dask clusters": ("The same estimates, chains and ensembles on the workers of a Dask cluster."),
}
#: Modules whose names are used with the module's, and their headings.
MODULES = {
    "models": "Models",
    "ensembles": "Clustering ensembles",
    "plots": "Figures",
    "datasets": "Data sets",
    "distributed": "Dask clusters",
}
#: These stand between the names of a formula, and reStructuredText would read them as markup.
MARKUP = re.compile(r"(?<!\\)(\||\*+|_(?=[\s)\].,;:]|$))")


def names_of_page() -> dict[str, list[str]]:
    """Heading -> full names, every public name once."""
    page = {heading: names.split() for heading, names in GROUPS.items()}
    listed = Counter(name for names in page.values() for name in names)
    wrong = sorted(set(partita._MODULE_OF) ^ set(listed)) + [name for name, times in listed.items() if times > 1]
    if wrong:
        raise ValueError(f"GROUPS of docs/extensions/reference.py must have every public name once: {wrong}")
    full = {heading: [f"partita.{name}" for name in names] for heading, names in page.items()}
    for module, heading in MODULES.items():
        full[heading] = [f"partita.{module}.{name}" for name in import_module(f"partita.{module}").__all__]
    return full


def write_page(path: Path) -> None:
    """The page as Markdown with a table for each heading; written only if it changed."""
    lines = [
        "# API reference",
        "",
        "`import partita as pt` gives every name below. Models and most functions have examples that run.",
        "",
    ]
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
