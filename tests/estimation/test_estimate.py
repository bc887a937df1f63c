"""`estimate` with the searches of the core: known optima, threads, Ctrl-C, bad input."""

import math
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita import _core
from partita.datasets import make_draws
from partita.losses.problem import core_problem
from partita.search.jobs import BestSoFar
from support.interrupts import signal_when_in
from support.strategies import SEARCHED

SHARED = Path(__file__).parents[2].parent / "shared"
SEARCHES = ("search", "salso", "greedy")

published = pytest.mark.skipif(not SHARED.exists(), reason="the published draws are not shipped")


def published_draws(name):
    return np.load(SHARED / "reference" / "draws" / f"{name}.npz")["draws"]


@pytest.fixture(scope="module")
def draws():
    return pt.as_sample(make_draws(60, 300, 5, rng=3))


@published
def test_galaxy_estimates_are_the_published_ones():
    sample = pt.as_sample(published_draws("galaxy"))
    vi = pt.estimate(sample, "vi", rng=1)
    assert vi.n_clusters == 3
    assert vi.expected_loss == pytest.approx(0.93937391, abs=1e-8)
    binder = pt.estimate(sample, "binder", rng=1)
    assert binder.n_clusters == 7
    assert binder.expected_loss == pytest.approx(0.21824271, abs=1e-8)


@published
@pytest.mark.parametrize(
    ("data", "loss", "peers_best"),
    [
        ("iris", pt.VI(), 1.6466470),
        ("iris", pt.NID(), 0.55954538),
        ("iris", pt.Binder(0.5, 1.5), 0.18238969),
        ("gaskins_like", pt.VI(0.5, 1.5), 1.2007096),
        ("gaskins_like", pt.Binder(), 0.075725175),
        ("cls15", pt.VI(), 2.5917799),
        ("cls15", pt.OneMinusARI(), 0.55272493),
    ],
)
def test_no_peer_has_reached_less(data, loss, peers_best):
    found = pt.estimate(published_draws(data), loss, rng=1)
    assert found.expected_loss <= peers_best * (1 + 1e-7)


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("name", SEARCHED)
def test_same_labels_on_any_number_of_threads(draws, method, name):
    found = [pt.estimate(draws, name, method, pt.Search(runs=6, n_jobs=jobs), rng=7) for jobs in (1, 2, 4)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].labels, other.labels)
        assert [run.loss for run in found[0].runs] == [run.loss for run in other.runs]


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("name", SEARCHED)
def test_reported_loss_is_the_recomputed_one_and_no_draw_is_better(draws, method, name):
    found = pt.estimate(draws, name, method, rng=2)
    assert found.expected_loss == pt.expected_loss(found.labels, draws, name)
    assert min(run.loss for run in found.runs) == pytest.approx(found.expected_loss, rel=1e-6)
    assert found.times_reached >= 1
    assert found.expected_loss <= pt.expected_loss(draws, draws, name).min() + 1e-9


def test_weights_equal_repeated_draws(draws):
    labels = draws.to_numpy()[:40]
    counts = np.random.default_rng(1).integers(1, 5, size=40)
    weighted = pt.estimate(labels, weights=counts, rng=1)
    repeated = pt.estimate(np.repeat(labels, counts, axis=0), rng=1)
    assert weighted.expected_loss == pytest.approx(repeated.expected_loss, rel=1e-12)


def test_gaps_are_left_out_draw_by_draw():
    truth = np.repeat([0, 1, 2], 10)
    rng = np.random.default_rng(2)
    base = np.stack([rng.permutation(3)[truth] for _ in range(12)])
    base[rng.random(base.shape) < 0.4] = -1
    found = pt.estimate(pt.as_sample(base, missing=-1), rng=1)
    assert found.expected_loss == 0
    np.testing.assert_array_equal(found.labels, truth)


def test_custom_loss_searches_like_the_loss_it_rebuilds(draws):
    n = draws.n_items
    table = np.array([0.0] + [k * np.log2(k) for k in range(1, n + 1)])
    custom = pt.CustomLoss(table, table, table, lambda joint, own, draw: (own + draw - 2 * joint) / n)
    found = pt.estimate(draws, custom, search=pt.Search(runs=2), rng=1)
    assert found.expected_loss == pytest.approx(pt.estimate(draws, "vi", rng=1).expected_loss, rel=1e-9)


def test_limit_on_clusters(draws):
    most = int(draws.n_clusters.max())
    loss = pt.VI(a=0.1)  # wants many clusters
    assert pt.estimate(draws, loss, rng=1).n_clusters <= most
    assert pt.estimate(draws, loss, search=pt.Search(max_clusters=2), rng=1).n_clusters <= 2
    free = pt.estimate(draws, loss, search=pt.Search(max_clusters=math.inf), rng=1)
    assert free.n_clusters > most


def test_zero_one_loss_gives_the_mode():
    found = pt.estimate([[0, 1, 1], [0, 0, 1], [0, 0, 1]], "zero-one", rng=1)
    np.testing.assert_array_equal(found.labels, [0, 0, 1])
    assert found.expected_loss == pytest.approx(1 / 3)
    with_gaps = pt.as_sample([[0, -1, 1], [-1, 0, -1], [0, 0, 1], [0, -1, 1]], missing=-1)
    np.testing.assert_array_equal(pt.estimate(with_gaps, "zero-one").labels, [0, 0, 1])
    with pytest.raises(ValueError, match="no draw labels every item"):
        pt.estimate(pt.as_sample([[0, -1, 1], [-1, 0, 1]], missing=-1), "zero-one")


@pytest.mark.parametrize("method", SEARCHES)
def test_one_item_one_draw(method):
    assert pt.estimate([[0]], "vi", method, rng=1).labels.tolist() == [0]
    assert pt.estimate([[0, 1, 0]], "vi", method, rng=1).expected_loss == 0


@pytest.mark.parametrize("method", SEARCHES)
def test_stops_in_time_with_the_best_so_far(method):
    sample = make_draws(2000, 400, 20, rng=1)
    begun = time.monotonic()
    found = pt.estimate(sample, "nvi", method, pt.Search(runs=10_000, seconds=0.3), rng=1)
    assert time.monotonic() - begun < 10  # without the limit it would take hours
    assert found.labels.shape == (2000,)
    assert not found.interrupted


def test_ctrl_c_gives_the_best_so_far():
    sample = make_draws(2000, 400, 20, rng=1)
    signal_when_in("search_runs")
    begun = time.monotonic()
    with pytest.warns(RuntimeWarning, match="interrupted"):
        found = pt.estimate(sample, "nvi", search=pt.Search(runs=100_000), rng=1)
    assert found.interrupted
    assert time.monotonic() - begun < 60  # without Ctrl-C it would take hours
    assert found.expected_loss < 1


@pytest.mark.parametrize(
    ("loss", "methods"),
    [("vi", "search hasse draws map enumerate exact"), ("zero-one", "search salso greedy draws map")],
)
def test_methods_without_runs_say_that_there_are_none(loss, methods):
    for method in methods.split():
        best = pt.estimate([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]], loss, method, rng=1)
        assert (best.times_reached > 0) == (best.n_runs > 0)
        assert repr(best)


def test_progress_is_told_of_every_run(draws):
    told = []
    pt.estimate(draws, "vi", "salso", pt.Search(runs=5, progress=lambda loss, clusters: told.append(loss)), rng=1)
    assert len(told) == 5


def test_progress_shows_the_best_run_from_the_first_on():
    """Best inf was shown for ever: no loss is below infinity minus infinity."""
    best = BestSoFar()
    assert best.after(0.75, 5) == "best 0.75 with 5 clusters, reached 1 time"
    assert best.after(0.5, 3) == "best 0.5 with 3 clusters, reached 1 time"
    assert best.after(0.5, 3) == "best 0.5 with 3 clusters, reached 2 times"
    assert best.after(0.9, 9) == "best 0.5 with 3 clusters, reached 2 times"


def test_progress_bar_writes_and_returns_the_same(draws, capsys, monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"}.items():  # a bar is for terminals
        monkeypatch.setenv(name, value)
    with_bar = pt.estimate(draws, search=pt.Search(runs=3, progress=True), rng=1)
    said = capsys.readouterr().err
    assert "0/3" in said
    assert f"best {with_bar.expected_loss:.6g} with {with_bar.n_clusters} clusters, reached" in said
    np.testing.assert_array_equal(with_bar.labels, pt.estimate(draws, search=pt.Search(runs=3), rng=1).labels)
    assert capsys.readouterr() == ("", "")


def test_seed_is_kept_and_gives_the_same_again(draws):
    first = pt.estimate(draws)
    assert first.seed is not None
    np.testing.assert_array_equal(pt.estimate(draws, rng=first.seed).labels, first.labels)


def test_repr_says_what_matters(draws):
    found = pt.estimate(draws, rng=1)
    assert f"{found.n_clusters} clusters of 60 items" in repr(found)
    assert "runs" in repr(found)
    assert "<table>" in found._repr_html_()
    assert list(found.runs_to_pandas().columns) == ["start", "sweeps", "moves", "loss", "clusters", "seconds"]


def test_weights_for_a_number_of_clusters(draws):
    for wanted in (3, 4):
        path = pt.weights_for(draws, "vi", n_clusters=wanted, rng=0)
        assert path.n_clusters == wanted
        counts = [e.n_clusters for e in path.path]
        assert counts == sorted(counts, reverse=True)
    with pytest.raises(ValueError, match=r"3 clusters at a=.* and 1 clusters at a=.*; reached: 1, 3.* clusters"):
        pt.weights_for(draws, "vi", n_clusters=2)  # the number jumps past two
    with pytest.raises(ValueError, match="n_clusters is 61"):
        pt.weights_for(draws, "vi", n_clusters=61)
    with pytest.raises(TypeError, match="Binder or VI"):
        pt.weights_for(draws, "nid", n_clusters=2)
    with pytest.raises(ValueError, match=r"estimate has 1 clusters: 3 clusters at a=[0-9.e+]+; reached: 3 clusters$"):
        pt.weights_for([[0, 1, 2]], "vi", n_clusters=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 0}, "runs must be at least 1"),
        ({"seconds": 0}, "seconds must be a positive"),
        ({"max_clusters": 0}, "max_clusters must be at least 1"),
        ({"zealous": -1}, "zealous must be at least 0"),
        ({"p_sequential": 2}, "p_sequential must be a probability"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        pt.Search(**options)


def test_bad_arguments(draws):
    with pytest.raises(ValueError, match="unknown method 'best'"):
        pt.estimate(draws, method="best")
    with pytest.raises(TypeError, match="loss must be a name or a loss object"):
        pt.estimate(draws, loss=3)
    with pytest.raises(TypeError, match="search must be a Search"):
        pt.estimate(draws, search={"runs": 3})


def test_too_little_memory_is_said_before(draws, monkeypatch):
    monkeypatch.setattr("partita.search.core.free_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="fewer draws"):
        pt.estimate(draws)
    problem = core_problem(pt.as_sample(draws), pt.VI())
    assert problem.bytes_needed(problem.state, 5, 2) > problem.bytes_needed(problem.state, 5, 1)


def test_the_similarity_matrix_counts_as_memory(monkeypatch):
    """Binder's loss of 3,000 items takes a matrix of 36 MB, which the tables of VI do without."""
    sample = pt.as_sample(make_draws(3000, 20, 4, rng=1))
    problem = core_problem(sample, pt.Binder())
    matrix, dense = (problem.bytes_needed(kind, 5, 1) for kind in (_core.StateKind.matrix, _core.StateKind.dense))
    assert problem.state == _core.StateKind.matrix
    assert matrix > 4 * 3000**2 > dense
    monkeypatch.setattr("partita.search.core.free_bytes", lambda: 4 * 3000**2)
    search = pt.Search(runs=1, n_jobs=1)
    pt.estimate(sample, "vi", search=search, rng=1, check_draws=False)
    with pytest.raises(MemoryError, match="the search needs"):
        pt.estimate(sample, "binder", search=search, rng=1, check_draws=False)


def test_a_sweep_always_ends_where_everything_ties():
    """All partitions of these draws into pairs tie; with no tolerance a sweep could go round for ever."""
    draws = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in SEARCHED:
            for method in SEARCHES:
                found = pt.estimate(draws, name, method, rng=1)
                assert all(run.sweeps < 100 for run in found.runs)
