"""Constraints and starts: kept by every answer, optimal among what they allow, contradictions named."""

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.search.constraints import resolve
from support import pair_reference as ref

PAIR_LOSSES = {
    "binder": (pt.Binder(a=1.0, b=0.8), lambda x, psm: ref.binder(x, psm, 1.0, 0.8)),
    "vi-lower-bound": (pt.VILowerBound(), ref.vi_lower_bound),
    "pear": (pt.ApproximateARI(), ref.one_minus_pear),
}


def random_constraints(rng, n):
    """Constraints without contradictions: those that some random partition obeys."""
    hidden = rng.integers(0, max(2, n // 2), n)
    pairs = [(int(i), int(j)) for i, j in rng.integers(n, size=(4, 2)) if i != j]
    together = [pair for pair in pairs if hidden[pair[0]] == hidden[pair[1]]][:2]
    apart = [pair for pair in pairs if hidden[pair[0]] != hidden[pair[1]]][:3]
    sources: list = [None] * n
    for cluster in range(hidden.max() + 1):
        for number, item in enumerate(np.flatnonzero(hidden == cluster)):
            sources[item] = None if rng.random() < 0.4 else f"source {number}"
    return {
        "together": together,
        "apart": apart,
        "one_per": sources if rng.random() < 0.6 else None,
        "max_size": int(np.bincount(hidden).max()) if rng.random() < 0.5 else None,
    }


def random_matrix(rng, n):
    upper = np.triu(rng.random((n, n)) ** 0.7, 1)
    return upper + upper.T + np.eye(n)


@pytest.mark.parametrize("name", PAIR_LOSSES)
@pytest.mark.parametrize("seed", range(15))
def test_the_best_of_pairs_that_obeys_equals_constrained_enumeration(name, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    psm, asked = random_matrix(rng, n), random_constraints(rng, n)
    loss, formula = PAIR_LOSSES[name]
    best = pt.estimate(pt.as_similarity(psm), loss, constraints=pt.Constraints(**asked), rng=seed)
    assert ref.obeys(best.labels, **asked)
    assert best.proven
    least = ref.best_value(psm, formula, lambda labels: ref.obeys(labels, **asked))
    assert best.expected_loss == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("name", PAIR_LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_searched_components_obey(name, seed):
    """Components that are too large for the exact solution: descent, rebuilding, crossing and the program."""
    rng = np.random.default_rng(seed)
    n = 24
    psm, asked = random_matrix(rng, n), random_constraints(rng, n)
    constraints = pt.Constraints(**asked)
    best = pt.estimate(pt.as_similarity(psm), PAIR_LOSSES[name][0], constraints=constraints, rng=seed)
    assert ref.obeys(best.labels, **asked)
    free = pt.estimate(pt.as_similarity(psm), PAIR_LOSSES[name][0], rng=seed)
    assert best.expected_loss >= free.expected_loss - 1e-9
    if name == "binder":
        short = pt.Search(seconds=2)  # sources or a limit on size make the program hard: it may not be proven in time
        exact = pt.estimate(pt.as_similarity(psm), PAIR_LOSSES[name][0], "exact", short, constraints=constraints, rng=1)
        assert exact.proven or asked["one_per"] is not None or asked["max_size"] is not None
        assert ref.obeys(exact.labels, **asked)
        assert best.expected_loss == pytest.approx(exact.expected_loss, abs=1e-9)


@pytest.mark.parametrize("name", PAIR_LOSSES)
@pytest.mark.parametrize("max_size", [1, 2, 3, 5])
def test_a_limit_on_size_alone_equals_constrained_enumeration(name, max_size):
    psm = random_matrix(np.random.default_rng(max_size), 8)
    loss, formula = PAIR_LOSSES[name]
    best = pt.estimate(pt.as_similarity(psm), loss, constraints=pt.Constraints(max_size=max_size), rng=1)
    assert best.proven
    assert best.sizes.max() <= max_size
    least = ref.best_value(psm, formula, lambda labels: ref.obeys(labels, max_size=max_size))
    assert best.expected_loss == pytest.approx(least, abs=1e-9)
    assert best.bound().value == pytest.approx(least, abs=1e-9)


def check_limited(seed):
    """A larger problem: the limit holds, the search is within its bound, and draws obey the same limit."""
    rng = np.random.default_rng([seed, 40])
    n, max_size = int(rng.integers(10, 30)), int(rng.integers(1, 8))
    psm = random_matrix(rng, n) ** rng.uniform(0.5, 3)
    np.fill_diagonal(psm, 1)
    rule, name = pt.Constraints(max_size=max_size), list(PAIR_LOSSES)[seed % len(PAIR_LOSSES)]
    quick = pt.Search(runs=2, n_jobs=1)
    best = pt.estimate(pt.as_similarity(psm), PAIR_LOSSES[name][0], search=quick, constraints=rule, rng=seed)
    assert best.sizes.max() <= max_size
    assert best.bound(seconds=0.01).value <= best.expected_loss + 1e-9
    draws = pt.datasets.make_draws(n, 20, 3, rng=seed)
    loss = DRAW_LOSSES[seed % len(DRAW_LOSSES)]
    found = pt.estimate(draws, loss, search=quick, constraints=rule, rng=seed, check_draws=False)
    assert found.sizes.max() <= max_size


def test_a_limit_on_size_holds_in_larger_problems():
    for seed in range(8):
        check_limited(seed)


@pytest.mark.slow
def test_a_limit_on_size_holds_in_a_thousand_larger_problems():
    for seed in range(1000):
        check_limited(seed)


@pytest.mark.parametrize("seed", range(3))
def test_linear_programs_prove_estimates_under_a_limit_on_size(seed):
    """The search finds what the program proves, and the program has no bound above what another partition reaches."""
    rng = np.random.default_rng(seed)
    psm, rule = random_matrix(rng, 17), pt.Constraints(max_size=4, together=[(0, 1)])
    pairs = pt.as_similarity(psm)
    exact = pt.estimate(pairs, "binder", "exact", pt.Search(seconds=10), constraints=rule, rng=1)
    best = pt.estimate(pairs, "binder", constraints=rule, rng=seed)
    assert exact.sizes.max() <= 4
    assert exact.proven
    assert best.expected_loss == pytest.approx(exact.expected_loss, abs=1e-9)


def test_constraints_by_name_and_sources_of_a_series():
    table = pd.DataFrame({"left": ["a", "a", "c"], "right": ["b", "c", "d"], "p": [0.9, 0.9, 0.9]})
    pairs = pt.as_similarity(table)
    assert pt.estimate(pairs, "binder", constraints=pt.Constraints(apart=[("a", "b")])).labels.tolist()[:2] == [0, 1]
    sources = pd.Series({"d": "x", "c": "x", "b": "y", "a": "z"})
    best = pt.estimate(pairs, "binder", constraints=pt.Constraints(one_per=sources), rng=1)
    labels = dict(zip(pairs.names, best.labels.tolist(), strict=True))
    assert labels["c"] != labels["d"]
    assert "at most one item of each source" in repr(best)


CONTRADICTIONS = {
    "apart within together": (
        {"together": [("a", "b"), ("b", "c"), ("d", "e")], "apart": [("d", "b"), ("c", "a")]},
        r"apart\[1\] keeps 'c' and 'a' apart, but together\[1\] joins 'c' and 'b' and together\[0\] joins 'b' and 'a'",
    ),
    "one source within together": (
        {"together": [("a", "c")], "one_per": ["x", "y", "x", None, None]},
        r"one_per has the same source for 'a' and 'c', but together\[0\] joins 'a' and 'c'",
    ),
    "a group above the limit on size": (
        {"together": [("a", "c"), ("c", "e")], "max_size": 2},
        "max_size is 2, but together joins 'a' with 'c', 'e': 3 items",
    ),
    "a limit below one": ({"max_size": 0}, "max_size must be at least 1, but it is 0"),
    "an item apart from itself": ({"apart": [("b", "b")]}, r"apart\[0\] is a pair of 'b' with itself"),
    "an unknown name": ({"together": [("a", "zed")]}, r"together\[0\] names 'zed', which is not an item"),
    "a number too large": ({"apart": [(0, 5)]}, r"apart\[0\] has item 5, but there are items 0\.\.4"),
    "three apart": ({"apart": [("a", "b", "c")]}, r"apart\[0\] must have two items"),
    "one together": ({"together": [("a",)]}, r"together\[0\] must have at least two items"),
    "sources of others": ({"one_per": ["x", "y"]}, "one_per has 2 items, but draws has 5"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_named(name):
    asked, message = CONTRADICTIONS[name]
    with pytest.raises(ValueError, match=message):
        resolve(pt.Constraints(**asked), tuple("abcde"), 5)


@pytest.mark.parametrize("group", ["ab", 7, [("a", 1.5)]])
def test_what_is_no_group_of_items_is_refused(group):
    with pytest.raises(TypeError, match=r"together\[0\]"):
        resolve(pt.Constraints(together=[group] if not isinstance(group, list) else group), tuple("abcde"), 5)


def test_starts_of_pairs():
    """The first run begins at the start: what is best already is kept, and a start that breaks a rule is named."""
    rng = np.random.default_rng(3)
    psm = random_matrix(rng, 30)
    pairs = pt.as_similarity(psm)
    best = pt.estimate(pairs, "vi-lower-bound", rng=1)
    again = pt.estimate(
        pairs, "vi-lower-bound", search=pt.Search(runs=1, zealous=0), start=[best.labels, np.arange(30)], rng=2
    )
    assert again.expected_loss <= best.expected_loss + 1e-9
    with pytest.raises(ValueError, match="start has 3 items, but similarity has 30"):
        pt.estimate(pairs, "binder", start=[0, 0, 1])
    with pytest.raises(ValueError, match=r"start\[1\] does not obey the constraints: items 0 and 1 must be apart"):
        pt.estimate(pairs, "binder", start=[np.arange(30), np.zeros(30)], constraints=pt.Constraints(apart=[(0, 1)]))


DRAW_LOSSES = [pt.VI(), pt.VI(a=0.6), pt.VI(a=1.8), pt.Binder(), pt.NVI(), pt.ID(), pt.NID(), pt.OneMinusARI()]


def obeying_draws(seed, n_items, n_draws=30):
    """Draws with weights, so that hardly any two partitions tie."""
    rng = np.random.default_rng(seed)
    draws = pt.datasets.make_draws(n_items, n_draws, 3, rng=seed)
    return pt.as_sample(draws, weights=rng.random(n_draws)), random_constraints(rng, n_items)


@pytest.mark.parametrize("loss", DRAW_LOSSES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_draws_that_obeys_equals_constrained_enumeration(loss, seed):
    sample, asked = obeying_draws(seed, 7)
    least = min(
        pt.expected_loss(labels, sample, loss, n_jobs=1)
        for labels in ref.all_partitions(7)
        if ref.obeys(labels, **asked)
    )
    constraints = pt.Constraints(**asked)
    for method in ("search", "enumerate"):
        best = pt.estimate(sample, loss, method, constraints=constraints, rng=1, check_draws=False)
        assert ref.obeys(best.labels, **asked)
        assert best.expected_loss == pytest.approx(least, abs=1e-9)
    assert best.proven


@pytest.mark.parametrize("loss", DRAW_LOSSES, ids=str)
def test_searches_of_larger_draws_obey_and_do_not_depend_on_threads(loss):
    sample, asked = obeying_draws(5, 40, 60)
    constraints = pt.Constraints(**asked)
    one, many = (
        pt.estimate(
            sample, loss, search=pt.Search(runs=3, n_jobs=jobs), constraints=constraints, rng=1, check_draws=False
        )
        for jobs in (1, 3)
    )
    assert ref.obeys(one.labels, **asked)
    assert np.array_equal(one.labels, many.labels)
    assert one.expected_loss == pytest.approx(pt.expected_loss(one.labels, sample, loss), abs=1e-12)


def test_exact_binder_of_draws_under_constraints():
    sample, asked = obeying_draws(2, 8)
    exact = pt.estimate(sample, "binder", "exact", constraints=pt.Constraints(**asked), rng=1, check_draws=False)
    assert exact.proven
    assert ref.obeys(exact.labels, **asked)
    bound = exact.bound(seconds=1)
    assert bound.value <= exact.expected_loss + 1e-12


@pytest.mark.parametrize("loss", [pt.VI(), pt.VI(2.0, 1.0), pt.Binder()], ids=str)
@pytest.mark.parametrize("gaps", [False, True])
def test_exact_vi_and_binder_of_small_components_under_constraints(loss, gaps):
    rng = np.random.default_rng(11)
    for seed in range(6):
        sample, asked = obeying_draws(seed, 7)
        if gaps:
            holes = np.where(rng.random((12, 7)) < 0.15, -1, rng.integers(3, size=(12, 7)))
            sample = pt.as_sample(holes, missing=-1)
        exact = pt.estimate(sample, loss, "exact", constraints=pt.Constraints(**asked), rng=1, check_draws=False)
        assert exact.proven
        assert ref.obeys(exact.labels, **asked)
        obeying = [labels for labels in ref.all_partitions(7) if ref.obeys(labels, **asked)]
        least = pt.expected_loss(np.array(obeying), sample, loss, n_jobs=1).min()
        assert exact.expected_loss == pytest.approx(least, abs=1e-9)
    many = pt.as_sample(pt.datasets.make_draws(20, 10, 2, rng=1))
    if isinstance(loss, pt.VI):
        with pytest.raises(ValueError, match=r"needs Binder's loss, not VI.*or components of at most 12 items"):
            pt.estimate(many, loss, "exact", constraints=pt.Constraints(apart=[(0, 1)]), check_draws=False)


def test_methods_and_settings_that_know_no_constraints_say_so():
    draws = [[0, 0, 1], [0, 1, 1]]
    rule = pt.Constraints(apart=[(0, 1)])
    for options, message in (
        ({"method": "salso"}, "method 'salso' does not support constraints"),
        ({"search": pt.Search(max_clusters=2)}, "max_clusters=2 cannot be combined with constraints"),
        ({"loss": "zero-one"}, "the zero-one loss"),
        ({"method": "exact", "loss": "nvi"}, "method 'exact' under constraints needs Binder's loss, not NVI"),
    ):
        with pytest.raises(ValueError, match=message):
            pt.estimate(draws, constraints=rule, check_draws=False, **options)
    with pytest.raises(TypeError, match="constraints must be Constraints"):
        pt.estimate(draws, constraints=[(0, 1)], check_draws=False)


@pytest.mark.parametrize("method", ["search", "salso", "greedy", "exact", "hasse", "laugreen"])
def test_searches_of_draws_begin_at_the_start(method):
    sample = pt.as_sample(pt.datasets.make_draws(40, 60, 4, rng=3))
    loss = "binder" if method in ("exact", "laugreen") else "vi"
    best = pt.estimate(sample, loss, rng=1, check_draws=False)
    search = pt.Search(runs=1, zealous=0)
    again = pt.estimate(sample, loss, method, search, start=best, rng=2, check_draws=False)
    assert again.expected_loss <= best.expected_loss + 1e-12
    assert "given" in {run.start for run in again.runs}
    if method != "exact":  # which has no limit unless it is given
        with pytest.raises(ValueError, match=r"start\[0\] has 40 clusters, but at most \d are allowed"):
            pt.estimate(sample, loss, method, start=np.arange(40), check_draws=False)


@pytest.mark.parametrize("method", ["hasse", "laugreen", "salso", "greedy"])
def test_runs_of_the_papers_searches_begin_at_each_start(method):
    """One run for each, and nowhere else: from one cluster and from a good partition they end where they lead."""
    sample = pt.as_sample(pt.datasets.make_draws(12, 20, 3, rng=4))
    good = pt.estimate(sample, "binder", rng=1, check_draws=False).labels
    search = pt.Search(runs=2, zealous=0)
    starts = [np.zeros(12, int), good]
    best = pt.estimate(sample, "binder", method, search, start=starts, rng=1, check_draws=False)
    assert [run.start for run in best.runs] == ["given", "given"]
    assert best.expected_loss <= pt.expected_loss(good, sample, "binder") + 1e-12


def test_enumeration_combines_constraints_with_a_limit():
    sample, asked = obeying_draws(1, 6)
    asked["apart"] = [(0, 1), (0, 2), (1, 2)]
    asked["together"] = []
    constraints = pt.Constraints(**asked)
    least = min(
        pt.expected_loss(labels, sample, "vi", n_jobs=1)
        for labels in ref.all_partitions(6)
        if ref.obeys(labels, **asked) and max(labels) < 3
    )
    three = pt.Search(max_clusters=3)
    best = pt.estimate(sample, "vi", "enumerate", three, constraints=constraints, check_draws=False)
    assert best.n_clusters == 3
    assert best.expected_loss == pytest.approx(least, abs=1e-12)
    with pytest.raises(ValueError, match="no partition into at most 2 clusters obeys the constraints"):
        pt.estimate(sample, "vi", "enumerate", pt.Search(max_clusters=2), constraints=constraints, check_draws=False)


def test_under_constraints_the_default_limit_does_not_hold_and_no_warning_says_so():
    draws = np.zeros((40, 6), int)
    draws[0] = [0, 0, 0, 1, 1, 1]  # one draw of 40 has two clusters, the constraints need three
    constraints = pt.Constraints(apart=[(0, 1), (0, 2), (1, 2)])
    best = pt.estimate(draws, "nvi", constraints=constraints, rng=1, check_draws=False)
    assert best.n_clusters >= 3
    assert not any("as many clusters as were allowed" in warning for warning in best.notes)


def test_no_limit_is_no_limit_for_constraints_and_pairs():
    sample, asked = obeying_draws(3, 8)
    free = pt.Search(max_clusters=np.inf)
    constraints = pt.Constraints(**asked)
    for loss in ("vi", "binder"):
        best = pt.estimate(sample, loss, search=free, constraints=constraints, rng=1, check_draws=False)
        assert ref.obeys(best.labels, **asked)
    pairs = pt.similarity(sample, sparse=True)
    assert pt.estimate(pairs, "binder", search=free, rng=1).proven
    with pytest.raises(ValueError, match="max_clusters=3 is for draws"):
        pt.estimate(pairs, "binder", search=pt.Search(max_clusters=3))
    with pytest.raises(ValueError, match="method 'salso' needs draws; pair probabilities have 'search', 'exact'"):
        pt.estimate(pairs, "binder", "salso")


def test_methods_without_a_start_say_so():
    with pytest.raises(ValueError, match="method 'draws' does not support start="):
        pt.estimate([[0, 0, 1], [0, 1, 1]], method="draws", start=[0, 0, 0], check_draws=False)
