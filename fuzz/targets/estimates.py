"""Searches: every method with every loss."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target

METHODS = ("search", "search", "salso", "greedy", "draws", "map", "medv", "pear", "hasse", "laugreen")


def _estimate(c: Choices, d: v.Draws, method: str) -> str:
    options = c.optional(20, weights=lambda c: v.weights(c, d.n_draws))
    extra = {
        "hasse": {"criterion": "'lower-bound'", "neighbors": v.count(c, 5), "max_steps": v.count(c, 20)},
        "medv": {"cut": c.pick(("0.5", "'loss'", "0", "1", "float('nan')", "'x'", "None"))},
        "map": {"log_density": c.pick((f"[0.5] * {d.n_draws}", f"[float('nan')] * {d.n_draws}", "[1]", "'x'"))},
    }.get(method, {})
    options |= c.optional(20, **extra)
    loss, search, seed = v.loss(c, d.n_items), v.search(c, d.n_items), v.seed(c)
    return f"pt.estimate({d.text}, {loss}, {method!r}, {search}, rng={seed}{arguments(options)})"


@target(150)
def estimate(c: Choices) -> str:
    method = c.pick(METHODS) if not c.chance(1) else c.pick(("nonsense", "", "Search"))
    return f"best = {_estimate(c, v.draws(c), method)}\ncheck_estimate(best)"


@target(50)
def estimate_near_ties(c: Choices) -> str:
    d = v.plain_draws(c)
    loss = c.pick(
        ("'vi'", "'binder'", "pt.VI(1, 1.0000001)", "pt.VI(0.5, 1)", "pt.Binder(1, 0.9999999999)", "'nid'", "'id'")
    )
    near = ("1.0", "1.0000001", "0.9999999", "1.000000000000001", "2.0000000001", "0.0", "1e-12")
    weights = "[1.0" + "".join(f", {c.pick(near)}" for _ in range(d.n_draws - 1)) + "]"
    method = c.pick(("search", "salso", "greedy"))
    search = v.search(c, d.n_items)
    return (
        f"best = pt.estimate({d.text}, {loss}, {method!r}, {search}, weights={weights}, rng={v.seed(c)})\n"
        "check_estimate(best)"
    )


@target(4)
def estimate_weightless(c: Choices) -> str:
    """Many draws of which few have a weight, as importance weights that underflow leave them."""
    n_items, n_draws = c.size(2, 40), 200 + 50 * c.below(40)
    few = c.many(1 + c.below(20), n_draws)
    loss = c.pick(("'vi'", "'binder'", "'nid'", "'omari'", "'nvi'", "'id'", "pt.VI(0.5, 1)"))
    draws = f"pt.datasets.make_draws({n_items}, {n_draws}, {1 + c.below(8)}, rng={c.below(1000)})"
    search = f"pt.Search(runs={c.pick(('1', '2'))}, n_jobs={c.pick(('1', '2'))})"
    method = c.pick(("search", "salso", "greedy", "draws"))
    return (
        f"best = pt.estimate({draws}, {loss}, {method!r}, {search}, weights=weightless({n_draws}, {few}), "
        f"rng={v.seed(c)})\ncheck_estimate(best)"
    )


@target(10)
def estimate_exactly(c: Choices) -> str:
    d = v.draws(c, most_items=7, most_draws=12)
    method = c.pick(("exact", "enumerate"))
    return f"best = {_estimate(c, d, method)}\ncheck_estimate(best)"


@target(12)
def weights_for(c: Choices) -> str:
    d = v.draws(c, most_items=14, most_draws=12)
    loss = c.pick(("'vi'", "'binder'", "pt.VI(1, 2)", "'nid'", "None"))
    options = c.optional(20, weights=lambda c: v.weights(c, d.n_draws), steps=lambda c: v.count(c, 40))
    search = c.pick(("pt.Search(runs=1, n_jobs=1)", v.search(c, d.n_items)))
    options |= {"n_clusters": v.count(c, 16), "search": search, "rng": v.seed(c)}
    call = f"pt.weights_for({d.text}, {loss}{arguments(options)})"
    return f"path = {call}\ncheck_estimate(path.estimate)\nvalue = path.to_pandas()"
