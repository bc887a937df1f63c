"""Sets of partitions, parameters of clusters, and two posteriors beside each other."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target

LEVELS = ("0.9", "0.5", "1", "1e-9", "0", "2", "float('nan')", "'x'")


@target(15)
def conformal_set(c: Choices) -> str:
    d = v.draws(c, most_items=12, most_draws=40)
    options = c.optional(40, loss=lambda c: v.loss(c, d.n_items), level=lambda c: c.pick(LEVELS))
    options |= c.optional(30, references=lambda c: v.count(c, 9)) | {"n_jobs": "1"}
    return (
        f"found = pt.conformal_set({d.text}{arguments(options)})\n"
        f"share = found.p_value({v.partition(c, d.n_items)})\n"
        "check_true(0 <= share <= 1, f'p-value {share}')\ntext = repr(found)"
    )


@target(10)
def compare_posteriors(c: Choices) -> str:
    a = v.draws(c, most_items=10, most_draws=40)
    b = a if c.chance(50) else v.draws(c, most_items=10, most_draws=40)
    options = c.optional(30, loss=lambda c: v.loss(c, a.n_items), permutations=lambda c: v.count(c, 20))
    options |= {"search": "pt.Search(runs=1, n_jobs=1)", "n_jobs": "1", "rng": v.seed(c)}
    return f"found = pt.compare_posteriors({a.text}, {b.text}{arguments(options)})\ntext = repr(found)"


@target(15)
def cluster_parameters(c: Choices) -> str:
    d = v.draws(c, most_items=10, most_draws=12)
    shape = c.pick((f"({d.n_draws}, {d.n_items})", f"({d.n_draws}, {d.n_items}, 2)", f"({d.n_draws}, 1)", "(0, 3)"))
    value = c.pick(("1.0", "0.5", "1e300", "float('nan')", "float('inf')", "-1"))
    options = c.optional(30, level=lambda c: c.pick(LEVELS)) | {"rng": v.seed(c)}
    call = (
        f"pt.cluster_parameters({v.partition(c, d.n_items)}, np.full({shape}, {value}), {d.text}{arguments(options)})"
    )
    return f"found = {call}\ncheck_true(np.isfinite(found.clusters.mean).all(), 'mean')\ntext = repr(found)"
