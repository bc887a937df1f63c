"""What is said about an estimate: balls, bounds, certainty, modes, diagnostics, reports."""

from __future__ import annotations

from fuzz import values as v
from fuzz.choices import Choices, arguments
from fuzz.targets.registry import target


def _subject(c: Choices, d: v.Draws) -> str:
    """An estimate, or plain labels and draws."""
    if c.chance(50):
        loss = c.pick(("'vi'", "'binder'", "'nid'", "'omari'", "pt.VI(0.5, 1)", "'zero-one'"))
        return f"pt.estimate({d.text}, {loss}, search=pt.Search(runs=1, n_jobs=1), rng=1)"
    return f"{v.partition(c, d.n_items)}, {d.text}"


def _loss(c: Choices, n: int) -> dict[str, str]:
    return c.optional(30, loss=lambda c: v.loss(c, n))


@target(50)
def credible_ball(c: Choices) -> str:
    d = v.draws(c)
    options = _loss(c, d.n_items) | c.optional(
        30, level=lambda c: c.pick(("0.5", "1", "1e-300", "0", "2", "float('nan')", "'x'"))
    )
    return (
        f"ball = pt.credible_ball({_subject(c, d)}, n_jobs=1{arguments(options)})\ncheck_ball(ball)\n"
        f"value = ball.contains({v.partition(c, d.n_items)})"
    )


@target(60)
def certainty(c: Choices) -> str:
    d = v.draws(c)
    kind = c.pick(("item_certainty", "cluster_stability", "exemplars", "items_to_check", "merge_tree"))
    options = {
        "item_certainty": _loss(c, d.n_items),
        "items_to_check": c.optional(50, count=lambda c: v.count(c, 9)),
        "merge_tree": _loss(c, d.n_items) | {"n_jobs": "1"},
    }.get(kind, {})
    return f"value = pt.{kind}({_subject(c, d)}{arguments(options)})\ntext = repr(value)"


@target(20)
def n_clusters_posterior(c: Choices) -> str:
    return (
        f"value = pt.n_clusters_posterior({v.draws(c).text})\n"
        "check_close(sum(value.values()), 1.0, 'the sum of the probabilities')"
    )


@target(12)
def bound(c: Choices) -> str:
    d = v.draws(c, most_items=10, most_draws=10)
    loss = v.loss(c, d.n_items)
    seconds = c.pick(("0.02", "0.01", "1e-9", "0", "float('nan')", "'x'"))
    return (
        f"best = pt.estimate({d.text}, {loss}, search=pt.Search(runs=1, n_jobs=1), rng=1)\n"
        f"found = best.bound({seconds})\n"
        "room = 1e-9 * (1 + abs(best.expected_loss))\n"
        "check_true(found.value <= best.expected_loss + room, f'bound {found.value} above the loss')\n"
        "text = str(found)"
    )


@target(15)
def modes(c: Choices) -> str:
    d = v.draws(c, most_items=12, most_draws=12)
    options = c.optional(30, starts=lambda c: v.count(c, 3))
    search = "pt.Search(runs=1, n_jobs=1)" if c.chance(70) else v.search(c, d.n_items)
    options |= {"search": search, "rng": v.seed(c)}
    call = f"pt.modes({d.text}, {v.count(c, 4)}, {v.loss(c, d.n_items)}{arguments(options)})"
    return f"found = {call}\ncheck_modes(found)\nvalue = found.table()\ntext = repr(found)"


@target(20)
def partial_clustering(c: Choices) -> str:
    d = v.draws(c, most_items=20, most_draws=20)
    options = _loss(c, d.n_items) | c.optional(30, starts=lambda c: v.count(c, 4), complete="True")
    level = c.pick(("0.9", "0.5", "1", "1e-9", "0", "2", "float('nan')", "'x'"))
    call = f"pt.partial_clustering({d.text}, {level}, rng={v.seed(c)}{arguments(options)})"
    return (
        f"found = {call}\ncheck_labels(found.labels, gaps=True)\n"
        "check_true(0 < found.probability <= 1 + 1e-9, 'probability')\ntext = repr(found)"
    )


@target(15)
def diagnostics(c: Choices) -> str:
    d = v.draws(c, most_items=10, most_draws=30)
    search = "pt.Search(runs=1, n_jobs=1)" if c.chance(70) else v.search(c, d.n_items)
    options = _loss(c, d.n_items) | c.optional(
        20,
        log_density=lambda c: c.pick(
            (f"[0.5] * {d.n_draws}", f"list(range({d.n_draws}))", "[1]", "'x'", "[float('nan')]")
        ),
    )
    options |= {"search": search, "rng": v.seed(c)}
    return f"found = pt.diagnostics({d.text}{arguments(options)})\ntext = repr(found)\nvalue = found.to_pandas()"


@target(1)
def report(c: Choices) -> str:
    d = v.draws(c, most_items=12, most_draws=12)
    data = c.pick(
        (
            f"np.random.default_rng(1).random(({d.n_items}, 2))",
            f"np.zeros(({d.n_items}, 3))",
            "[[1, 2]]",
            f"[float('nan')] * {d.n_items}",
        )
    )
    options = c.optional(
        30,
        data=data,
        truth=lambda c: v.partition(c, d.n_items),
        title=lambda c: c.pick(("'<b>'", "''", "'\\x1b[31m'", "None")),
    )
    loss = c.pick(("'vi'", "'binder'", "'nid'", "'omari'", "'zero-one'"))
    return (
        f"best = pt.estimate({d.text}, {loss}, search=pt.Search(runs=1, n_jobs=1), rng=1)\n"
        f"path = pt.report(best, path=folder_of('page.html'){arguments(options)})\n"
        "check_true('<b>' not in path.read_text().split('<title>')[1].split('</title>')[0], 'markup in the title')"
    )


@target(1)
def plots(c: Choices) -> str:
    d = v.draws(c, most_items=10, most_draws=10)
    n = d.n_items
    x, y = v.partition(c, n), v.partition(c, n)
    data = c.pick(
        (f"np.random.default_rng(1).random(({n}, 2))", f"np.zeros({n})", f"np.full({n}, np.nan)", f"np.zeros(({n}, 0))")
    )
    call = c.pick((
        f"cluster_counts({d.text})",
        f"comparison_map({x}, {y})",
        f"density_plot({data}, {x})",
        f"points({data}, {x})",
        f"item_certainty({x}, np.random.default_rng(1).random({n}))",
        f"similarity_map(pt.similarity({d.text}), {x})",
        f"weight_path({[1.0] * n}, {x})",
        f"run_trace([{x}, {y}])",
        f"adjacency_map(np.zeros(({n}, {n})), {x})",
        f"hasse({v.count(c, 4)})",
        f"network(np.ones(({n}, {n})), {x})",
        f"item_map({x}, {d.text})",
        f"dendrogram(pt.merge_tree({x}, {d.text}))",
        f"partial_curve(pt.partial_clustering({d.text}, rng=1))",
        f"posterior_difference(pt.compare_posteriors({d.text}, {d.text}, rng=1))",
        f"cluster_intervals(pt.cluster_parameters({x}, np.ones(({d.n_draws}, {n})), {d.text}))",
        f"hierarchy(pt.hierarchy({d.text}, search=pt.Search(runs=1, n_jobs=1), rng=1))",
        "settling(pt.monitor(rng=1))",
        f"consensus_cdf(pt.ensembles.ambiguity({{2: [{x}, {y}]}}, rng=1))",
        f"clustering_tree({{1: {x}, 2: {y}}})",
    ))  # fmt: skip
    return f"value = pt.plots.{call}\nclose_figures()"


@target(10)
def hierarchy(c: Choices) -> str:
    d = v.draws(c, most_items=12, most_draws=12)
    options = {"search": "pt.Search(runs=1, n_jobs=1)", "rng": "1"} | c.optional(40, finest=lambda c: v.count(c, 12))
    if c.chance(20):
        options["coarser"] = f"[{v.draws(c, most_items=12, most_draws=12).text}]"
    loss = c.pick(("'vi'", "'binder'", "'nid'", "'omari'", "'zero-one'"))
    return f"tree = pt.hierarchy({d.text}, {loss}{arguments(options)})\ntext = repr(tree)"


@target(6)
def monitor(c: Choices) -> str:
    options = {"search": "pt.Search(runs=1, n_jobs=1)", "rng": "1"}
    options |= c.optional(20, level=v.number, tolerance=v.number, precision=v.number, first=lambda c: v.count(c, 200))
    d = v.plain_draws(c, 6, 6)
    fed = "\n".join(
        f"watch.feed({d.text if c.chance(70) else v.draws(c, most_items=6, most_draws=8).text}, "
        f"chain={c.pick(('0', '0', '1', '-1', '7'))})"
        for _ in range(1 + c.below(2))
    )
    many = f"for _ in range(30): watch.feed({d.text})\n" if c.chance(30) else ""
    return f"watch = pt.monitor({arguments(options)[2:]})\n{many}{fed}\ntext = repr(watch), watch.settled"


@target(6)
def monte_carlo_error(c: Choices) -> str:
    d = v.draws(c, most_items=10, most_draws=20)
    return (
        f"best = pt.estimate({d.text}, search=pt.Search(runs=1, n_jobs=1), rng=1)\n"
        f"text = repr(pt.monte_carlo_error(best, rng=1))"
    )
