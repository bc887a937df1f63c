"""The papers' other estimators: each against its definition, and against enumeration where it is exact."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita import _core
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import expected_loss
from partita.losses.losses import LOSSES, NVI, VI, Binder, as_loss
from partita.losses.problem import core_problem
from partita.pairs.similarity import similarity
from partita.partitions.labels import canonical
from partita.search import METHODS, as_method
from partita.search.clique_lp import _Program
from partita.search.papers.hasse import _expected, _lower_bound, find_hasse
from partita.search.papers.laugreen import swap_items
from partita.search.papers.linkage import tree_cuts
from partita.search.settings import Search
from support import reference as ref
from support.strategies import gappy_samples, positive, random_sample, samples

unlimited = Search(max_clusters=np.inf)


@pytest.mark.parametrize("loss", LOSSES)
@given(sample=samples(max_items=6))
def test_draws_is_the_best_draw(loss, sample):
    rows, weights = sample
    est = estimate(as_sample(rows, weights), loss, "draws")
    best = min(ref.expected_loss(row, rows, ref.LOSSES[loss], weights) for row in rows)
    assert est.expected_loss == pytest.approx(best, abs=1e-12)
    assert ref.canonical(est.labels.tolist()) in {ref.canonical(row) for row in rows}


@pytest.mark.parametrize("loss", LOSSES)
def test_one_run_is_never_worse_than_any_of_few_draws(loss):
    """Under NVI and omARI one run from another start ends above the best draw for some of these."""
    for seed in range(60):
        rows = np.random.default_rng(seed).integers(0, 4, (3, 10)).tolist()
        est = estimate(rows, loss, search=Search(runs=1, n_jobs=1), rng=seed, check_draws=False)
        best = min(ref.expected_loss(row, rows, ref.LOSSES[loss]) for row in rows)
        assert est.expected_loss <= best + 1e-9, (seed, rows)
        if est.runs:  # the draw is among them; Binder's matrix is in single precision
            assert min(run.loss for run in est.runs) == pytest.approx(est.expected_loss, abs=1e-6)


@pytest.mark.parametrize("loss", [VI(), VI(0.5, 1.5), Binder(), Binder(2, 0.5)], ids=str)
@pytest.mark.parametrize("quick", [True, False], ids=["clusters", "Jensen"])
def test_draws_pruned_by_a_bound_is_the_best_draw(loss, quick, monkeypatch):
    if not quick:
        monkeypatch.setattr(_core, "expected_losses_of_draws", lambda *_: np.zeros(0))
    rng = np.random.default_rng(3)
    for _ in range(20):
        sample = as_sample(rng.integers(3, size=(40, 6)), rng.gamma(1.0, size=40))
        assert sample.n_unique > 6  # else nothing is pruned
        best = expected_loss(sample, sample, loss).min()
        assert estimate(sample, loss, "draws").expected_loss == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("loss", [VI(), VI(0.5, 1.5), Binder(2, 0.5)], ids=str)
def test_scores_through_distinct_clusters_are_the_expected_losses(loss):
    """One, two and three words of bits; clusters that several draws share."""
    rng = np.random.default_rng(7)
    for n in (5, 64, 65, 150):
        base = rng.integers(4, size=(3, n))
        draws = np.where(rng.random((30, n)) < 0.03, rng.integers(5, size=(30, n)), base[rng.integers(3, size=30)])
        sample = as_sample(draws, rng.gamma(1.0, size=30))
        problem = core_problem(sample, loss)
        scores = _core.expected_losses_of_draws(problem, np.inf, 2)
        np.testing.assert_allclose(scores, expected_loss(sample, sample, loss), atol=1e-12)
        assert _core.expected_losses_of_draws(problem, 1.0, 1).size == 0


@given(samples(max_items=6))
def test_map_is_the_heaviest_draw(sample):
    rows, weights = sample
    est = estimate(as_sample(rows, weights), "zero-one", "map")
    least, _ = ref.best_estimates(rows, ref.zero_one, weights)
    assert est.expected_loss == pytest.approx(least)
    assert est.criterion == pytest.approx(1 - least)


def test_map_takes_a_log_density():
    rows = [[0, 0, 1], [0, 1, 1], [0, 1, 1], [0, 1, 2]]
    est = estimate(rows, "vi", "map", log_density=[-3.0, -2.5, -2.5, -1.0])
    assert est.labels.tolist() == [0, 1, 2]
    assert est.criterion == -1.0
    with pytest.raises(ValueError, match="log_density has 2 values, but there are 4 draws"):
        estimate(rows, "vi", "map", log_density=[0.0, 1.0])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("limit", [None, 2])
def test_enumerate_is_the_optimum(loss, limit):
    rng = np.random.default_rng(5)
    for n in (1, 2, 4, 5):
        rows, weights = random_sample(n, 6, rng)
        est = estimate(as_sample(rows, weights), loss, "enumerate", Search(max_clusters=limit))
        least, _ = ref.best_estimates(rows.tolist(), ref.LOSSES[loss], weights, limit)
        assert est.expected_loss == pytest.approx(least, abs=1e-12)
        assert est.proven
        assert est.gap == 0


def test_enumerate_goes_to_seven_items_and_over_gaps():
    rng = np.random.default_rng(6)
    rows, weights = random_sample(7, 5, rng)
    rows[0, 2] = rows[3, 6] = -1
    est = estimate(as_sample(rows, weights, missing=-1), "vi", "enumerate")
    least, _ = ref.best_estimates(rows.tolist(), ref.vi, weights)
    assert est.expected_loss == pytest.approx(least, abs=1e-12)


@settings(max_examples=40)
@given(samples(max_items=7), positive, positive)
def test_exact_binder_is_the_optimum(sample, a, b):
    rows, weights = sample
    draws = as_sample(rows, weights)
    est = estimate(draws, Binder(a, b), "exact")
    assert est.proven
    assert est.expected_loss == pytest.approx(estimate(draws, Binder(a, b), "enumerate").expected_loss, abs=1e-8)


def test_exact_binder_is_the_optimum_for_nine_items_and_obeys_a_bound():
    rng = np.random.default_rng(11)
    for _ in range(4):
        rows, weights = random_sample(9, 8, rng)
        sample = as_sample(rows, weights)
        for limit in (None, 2, 3):
            search = Search(max_clusters=limit)
            est = estimate(sample, "binder", "exact", search)
            best = estimate(sample, "binder", "enumerate", search)
            assert est.proven
            assert limit is None or est.n_clusters <= limit
            assert est.expected_loss == pytest.approx(best.expected_loss, abs=1e-8)


def noisy_halves():
    """Draws of 30 items whose components are too large to go through all of their partitions."""
    rng = np.random.default_rng(2)
    return np.where(rng.random((20, 30)) < 0.4, rng.integers(3, size=(20, 30)), np.repeat([0, 1], 15))


def test_exact_without_time_gives_a_gap():
    draws = noisy_halves()
    est = estimate(draws, "binder", "exact", Search(seconds=1e-6))
    best = estimate(draws, "binder", "exact")
    assert not est.proven
    assert est.expected_loss * (1 - est.gap) <= best.expected_loss + 1e-9
    assert best.expected_loss <= est.expected_loss + 1e-12


def test_exact_interrupted_gives_the_best_so_far(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    draws = noisy_halves()
    best = estimate(draws, "binder", "exact", rng=1)
    monkeypatch.setattr(_Program, "solve", interrupted)
    with pytest.warns(RuntimeWarning, match="interrupted: this is the best partition so far"):
        est = estimate(draws, "binder", "exact", rng=1)
    assert est.interrupted
    assert not est.proven
    assert est.expected_loss * (1 - est.gap) <= best.expected_loss <= est.expected_loss + 1e-12


def test_exact_knows_what_it_cannot_do():
    with pytest.raises(ValueError, match="Binder's loss, and VI if all components have at most 12 items, not VI"):
        estimate(noisy_halves(), "vi", "exact")
    with pytest.raises(ValueError, match="VI if all components have at most 12 items, not NVI"):
        estimate([[0, 1]], "nvi", "exact")
    with pytest.raises(ValueError, match="label every item"):
        estimate(as_sample([[0] * 13 + [-1], [0] * 14], missing=-1), "binder", "exact")
    with pytest.raises(ValueError, match="at most 12 items, but there are 13"):
        estimate([[0] * 13], "binder", "enumerate")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("galaxy", 0.21824271),
        ("gaskins_like", 0.075653175),
        ("cls15", 0.10931405),
        pytest.param("iris", 0.31050329, marks=pytest.mark.slow),
        pytest.param("simce_like", 0.048100289, marks=pytest.mark.slow),
    ],
)
def test_exact_binder_on_the_reference_draws(shared, name, value):
    est = estimate(np.load(shared / f"reference/draws/{name}.npz")["draws"], "binder", "exact")
    assert est.proven
    assert est.expected_loss == pytest.approx(value, rel=1e-7)


@given(samples(max_items=7))
def test_medv_is_the_best_cut_and_pear_the_best_of_cuts_and_draws(sample):
    rows, weights = sample
    draws = as_sample(rows, weights)
    psm = ref.similarity(rows, weights)
    medv, pear = estimate(draws, "vi", "medv"), estimate(draws, "vi", "pear")
    assert medv.expected_loss <= ref.expected_loss([0] * len(rows[0]), rows, ref.vi, weights) + 1e-12
    assert pear.criterion == pytest.approx(ref.pear(pear.labels.tolist(), psm), abs=1e-9)
    assert pear.criterion >= max(ref.pear(row, psm) for row in rows) - 1e-9


def test_the_original_cut_keeps_pairs_that_are_ever_together():
    rows = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]]
    psm = similarity(rows)
    labels = estimate(rows, "vi", "medv", cut="original").labels
    assert all(psm[i, j] >= 0.01 for i in range(5) for j in range(5) if labels[i] == labels[j])
    assert estimate(rows, "vi", "medv", cut=0.4).labels.tolist() == [0, 0, 1, 2, 2]


@given(samples(max_items=7), st.integers(1, 7), st.sampled_from(["original", 0.3, 0.8]))
def test_a_cut_at_a_height_obeys_max_clusters(sample, most, cut):
    """Of the tree's partitions the finest that has at most so many clusters and is not below the height."""
    rows, weights = sample
    draws = as_sample(rows, weights)
    free = estimate(draws, "vi", "medv", cut=cut)
    held = estimate(draws, "vi", "medv", Search(max_clusters=most), cut=cut)
    assert held.n_clusters <= most
    assert held.criterion >= free.criterion
    if free.n_clusters <= most:
        assert held.labels.tolist() == free.labels.tolist()
    else:  # the apartness of any two items of a cluster is at most the height, which some pair has
        psm, same = similarity(draws), held.labels[:, None] == held.labels
        assert (1 - psm[same]).max() == pytest.approx(held.criterion, abs=1e-6)


def test_one_item_is_cut_into_one_cluster():
    assert estimate([[0], [0]], "vi", "medv", cut="original").labels.tolist() == [0]
    assert estimate([[0], [0]], "vi", "medv", cut=0.5).labels.tolist() == [0]


@given(samples(max_items=7) | gappy_samples(max_items=7), st.sampled_from(list(LOSSES)), st.data())
def test_split_losses_are_those_of_the_split_partitions(sample, loss, data):
    rows, weights = sample
    draws = as_sample(rows, weights, missing=-1)
    labels = np.array(ref.canonical(rows[-1]))
    big = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    big = [members for members in big if members.size > 1]
    if not big:
        return
    parts = []
    for members in big:
        count = data.draw(st.integers(1, members.size - 1))
        parts.append(np.array(sorted(data.draw(st.permutations(members.tolist()))[:count]), np.int64))
    found = _expected(draws, as_loss(loss), 1).splits(labels, parts)
    for value, part in zip(found, parts, strict=True):
        split = labels.copy()
        split[part] = labels.max() + 1
        assert value == pytest.approx(ref.expected_loss(split.tolist(), rows, ref.LOSSES[loss], weights), abs=1e-12)


@given(samples(max_items=7))
def test_lower_bound_neighbours_are_equation_four(sample):
    rows, weights = sample
    psm = ref.similarity(rows, weights)
    objective = _lower_bound(psm)
    labels = np.array(ref.canonical(rows[0]))
    merged = objective.merges(labels)
    for left, right in zip(*np.triu_indices(labels.max() + 1, 1), strict=True):
        value = ref.vi_lower_bound(np.where(labels == right, left, labels).tolist(), psm)
        assert merged[left, right] == pytest.approx(value, abs=1e-9)
    part = np.flatnonzero(labels == labels[0])[:1]
    if (labels == labels[0]).sum() > 1:
        split = labels.copy()
        split[part] = labels.max() + 1
        expected = ref.vi_lower_bound(split.tolist(), psm)
        assert objective.splits(labels, [part])[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_hasse_ends_where_no_neighbour_is_better(loss):
    rng = np.random.default_rng(8)
    partitions = ref.all_partitions(6)
    for _ in range(10):
        rows, weights = random_sample(6, 8, rng)
        sample = as_sample(rows, weights)
        est = estimate(sample, loss, "hasse", unlimited, rng=1, neighbors=1000)
        assert est.expected_loss <= estimate(sample, loss, "draws").expected_loss + 1e-12
        own = est.labels.tolist()
        beside = [p for p in partitions if ref.covers(p, own) or ref.covers(own, p)]
        best = min(ref.expected_loss(p, rows.tolist(), ref.LOSSES[loss], weights) for p in beside)
        assert best >= est.expected_loss - 1e-9
        assert [run.start for run in est.runs] == ["last draw", "best draw"]


def test_hasse_splits_come_closest_first():
    rng = np.random.default_rng(1)
    from partita.search.papers.hasse import _spread, _Walk

    labels = np.array(canonical([0] * 5 + [1] * 3 + [2]))
    for loss in (VI(), Binder()):
        walk = _Walk(None, _spread(loss), 100, 9, rng)  # type: ignore[arg-type]
        parts = list(walk._splits(labels))
        assert len({p.tobytes() for p in parts}) == len(parts) == (2**4 - 1) + (2**2 - 1)
        split = [np.where(np.isin(np.arange(9), p), 9, labels) for p in parts]
        distance = [expected_loss(s, labels[None, :], loss) for s in split]
        assert (np.diff(distance) >= -1e-9).all()


def test_hasse_on_the_lower_bound_of_the_galaxy_draws(shared):
    draws = as_sample(np.load(shared / "reference/draws/galaxy.npz")["draws"])
    est = estimate(draws, "vi", "hasse", rng=1, criterion="lower-bound")
    assert est.expected_loss == pytest.approx(0.93937391, rel=1e-7)


@given(samples(max_items=7), positive, positive)
def test_item_swapping_ends_where_no_swap_is_better(sample, a, b):
    rows, weights = sample
    psm = ref.similarity(rows, weights)
    n = len(rows[0])
    labels, _, _ = swap_items(psm - b / (a + b), np.zeros(n, np.int64), n)
    score = ref.lau_green(labels.tolist(), psm, a, b)
    for i in range(n):
        for k in range(labels.max() + 2):
            moved = [k if j == i else int(label) for j, label in enumerate(labels)]
            assert ref.lau_green(moved, psm, a, b) <= score + 1e-9


def test_laugreen_reports_its_criterion_and_obeys_the_bound():
    rng = np.random.default_rng(4)
    rows, weights = random_sample(10, 12, rng)
    sample = as_sample(rows, weights)
    psm = similarity(sample)
    for limit in (2, 3, np.inf):
        est = estimate(sample, Binder(1, 2), "laugreen", Search(max_clusters=limit), rng=1)
        assert est.n_clusters <= limit
        assert est.criterion == pytest.approx(ref.lau_green(est.labels.tolist(), psm, 1, 2))
    with_other_loss = estimate(sample, NVI(), "laugreen", rng=1)
    assert with_other_loss.criterion == pytest.approx(ref.lau_green(with_other_loss.labels.tolist(), psm))


def test_bad_options_are_named():
    rows = [[0, 0, 1], [0, 1, 1]]
    for options, message in [
        ({"loss": "nvi"}, "supports Binder's loss and VI, not NVI"),
        ({"loss": "binder", "criterion": "lower-bound"}, "bound on the expected VI; the loss is Binder"),
        (
            {"loss": "vi", "criterion": "best"},
            "criterion must be 'expected-loss' or 'lower-bound', not 'best'",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            estimate(rows, method="hasse", **options)
    with pytest.raises(ValueError, match="max_clusters=1 leaves no draw"):
        estimate(rows, "vi", "draws", Search(max_clusters=1))


@pytest.mark.parametrize("method", ["medv", "pear"])
@pytest.mark.parametrize("n_items", [2, 3, 6])
def test_single_items_are_among_the_cuts(method, n_items):
    """SciPy's cut_tree gives one cluster for the cut into n where that cut is not the first asked for."""
    best = estimate([list(range(n_items))], "binder", method)
    assert best.labels.tolist() == list(range(n_items))
    assert best.expected_loss == 0


@pytest.mark.parametrize("n_items", [2, 5, 9])
def test_tree_cuts_have_every_number_of_clusters(n_items):
    psm = similarity(random_sample(n_items, 20, np.random.default_rng(1))[0])
    counts = [int(labels.max()) + 1 for labels in tree_cuts(psm, n_items)]
    assert counts == [*range(1, n_items + 1)] * 2


def test_an_option_of_another_method_is_named():
    with pytest.raises(TypeError, match="method 'search' does not take criterion; it has no options"):
        estimate([[0, 1]], criterion="lower-bound")
    with pytest.raises(TypeError, match="method 'medv' does not take criterion; its options are cut"):
        estimate([[0, 1]], method="medv", criterion="lower-bound")


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exact"])
def test_every_method_takes_draws_with_gaps(method):
    """Only a draw that labels every item can be the estimate, or where a search begins."""
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((50, 8)) < 0.2, -1, rng.integers(0, 3, (50, 8)))
    sample = as_sample(rows, missing=-1)
    loss = "vi" if method == "lower-bound" else "binder"
    best = estimate(sample, loss, method, rng=1)
    assert best.labels.min() == 0
    assert best.expected_loss == pytest.approx(expected_loss(best.labels, sample, loss), abs=1e-12)


@pytest.mark.parametrize("method", ["draws", "map", "hasse"])
def test_draws_none_of_which_is_complete(method):
    with pytest.raises(ValueError, match="no draw labels every item"):
        estimate(as_sample([[0, -1, 1], [-1, 0, 1]], missing=-1), "binder", method)


def test_a_method_is_looked_up_once():
    assert as_method("salso") is METHODS["salso"]
    assert as_method(METHODS["hasse"]) is METHODS["hasse"]
    assert [*METHODS["hasse"].options, "starts"] == list(inspect.signature(find_hasse).parameters)[4:]
    assert {name for name, method in METHODS.items() if method.core is not None} == {"search", "salso", "greedy"}
    draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    named, given = (estimate(draws, method=method, rng=1) for method in ("draws", METHODS["draws"]))
    assert given.method == named.method == "draws"
    assert given.labels.tolist() == named.labels.tolist()


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.repeats])
def test_methods_that_say_so_make_runs(method):
    draws = noisy_halves()
    rows = [len(estimate(draws, "binder", method, Search(runs=runs), rng=1).runs) for runs in (2, 9)]
    assert rows[0] < rows[1]
