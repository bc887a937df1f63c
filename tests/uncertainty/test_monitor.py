"""Monitors: when the summary of growing draws has stabilised, and what feeds them."""

import time
from itertools import islice
from threading import Thread

import numpy as np
import pytest
from benchmarks.monitor import simulate

import partita as pt
from partita.datasets import load_galaxies, make_draws
from partita.draws.sample import as_sample
from partita.estimation.r_hat import effective_sample_size
from partita.estimation.standard_errors import quantile_error
from partita.losses.losses import VI
from partita.models.chains.listener import Listener
from partita.uncertainty import stabilisation
from partita.uncertainty.stabilisation import StabilityRule, check_draws
from support.reference import vi

QUICK = pt.Search(runs=2, n_jobs=1)


def test_a_check_against_numpy():
    draws = make_draws(6, 200, 3, doubt=0.4, rng=1)
    found = check_draws(as_sample(draws), VI(), 0.9, StabilityRule(), QUICK, np.random.default_rng(1), None)
    whole = pt.estimate(draws, method="enumerate", check_draws=False)
    losses = np.array([vi(row, found.labels) for row in draws])
    assert found.expected_loss == pytest.approx(losses.mean()) == pytest.approx(whole.expected_loss)
    assert found.radius == pytest.approx(np.sort(losses)[179])
    parts = [*np.split(draws, 2), *np.split(draws, 4)]
    most = [pt.Search(max_clusters=max(len(set(row)) for row in part.tolist())) for part in parts]
    others = [
        pt.estimate(part, method="enumerate", search=limit, check_draws=False).labels
        for part, limit in zip(parts, most, strict=True)
    ]
    gains = [np.round(losses - [vi(row, other) for row in draws], 10) for other in others]
    limits = [gain.mean() + 2 * gain.std() / np.sqrt(effective_sample_size(gain[None])) for gain in gains if gain.any()]
    assert limits
    assert found.regret == pytest.approx(max(0, *limits), abs=1e-12)
    assert found.distance == pytest.approx(np.mean([vi(found.labels, other) for other in others]), abs=1e-12)


def test_the_error_of_a_quantile_is_its_spread_over_samples():
    rng = np.random.default_rng(1)
    labels = np.array(list(pt.enumerate_partitions(6)))
    values = rng.gamma(2.0, size=len(labels))
    quantiles, errors = [], []
    for _ in range(150):
        index = rng.integers(len(labels), size=4000)
        weights = np.bincount(index, minlength=len(labels)) / 4000
        quantiles.append(np.quantile(values[index], 0.9))
        errors.append(quantile_error(pt.PartitionSample(labels, weights, index), values, 0.9))
    assert np.mean(errors) == pytest.approx(np.std(quantiles), rel=0.35)
    weighted = as_sample(labels, weights=np.arange(1, len(labels) + 1))
    assert quantile_error(weighted, values, 0.9) is None


def test_stops_where_all_draws_would_end():
    row = simulate("made", make_draws(30, 3000, 3, doubt=0.05, rng=30)[None], starts=4, tolerance=0.01)
    assert row.settled == row.early == 4
    assert row.wrong == 0


def test_the_simulation_finds_a_monitor_that_does_not_compare_parts(monkeypatch):
    draws = make_draws(60, 900, 6, doubt=0.4, rng=1)[None]
    assert simulate("made", draws, starts=3, tolerance=0.0).wrong == 0
    monkeypatch.setattr(stabilisation, "_compare_parts", lambda *arguments: (0.0, 0.0))
    monkeypatch.setattr(stabilisation, "loss_where_placed", lambda *arguments: 0.0)
    assert simulate("made", draws, starts=3, tolerance=0.0).wrong > 0


@pytest.mark.slow
def test_twenty_posteriors():
    """The table of docs/uncertainty.md; fewer posteriors where the shared draws are missing."""
    from benchmarks.monitor import posteriors

    rows = [simulate(name, draws(), starts=6, tolerance=0.01) for name, draws in posteriors()]
    settled = sum(row.settled for row in rows)
    assert sum(row.wrong for row in rows) <= 0.05 * settled
    assert sum(row.early > 3 for row in rows) > len(rows) / 2


def test_a_model_stops_where_its_monitor_has_settled_on_any_number_of_threads():
    X = np.concatenate([np.random.default_rng(1).normal(m, 1, (10, 1)) for m in (0, 8)])
    chains, watched = [], []
    for jobs in (1, 3):
        watched.append(pt.monitor(search=QUICK, rng=1))
        model = pt.models.GaussianDPM(covariance="diag")
        chains.append(model.sample(X, draws=50_000, warmup=50, chains=3, rng=1, n_jobs=jobs, callback=watched[-1]))
    assert all(each.settled for each in watched)
    assert chains[0].n_draws == watched[0].checks[-1].n_draws / 3 < 50_000
    assert chains[0].attrs["complete"] is False
    np.testing.assert_array_equal(chains[0].labels, chains[1].labels)
    np.testing.assert_array_equal(watched[0].estimate(rng=1).labels, watched[0].checks[-1].labels)


@pytest.mark.filterwarnings("error::partita.estimation.convergence.MixingWarning")
def test_draws_that_have_settled_give_no_mixing_warning():
    watched = pt.monitor(search=QUICK, rng=1)
    model, velocity = pt.models.GaussianDPM(covariance="diag"), load_galaxies().data / 1000
    chain = model.sample(velocity, draws=20_000, warmup=500, chains=4, rng=1, callback=watched)
    assert watched.settled
    assert pt.estimate(chain, search=QUICK, rng=1).cautions == ()
    assert any("few effective draws: " in problem for check in watched.checks for problem in check.problems)
    watched = pt.monitor(search=QUICK, rng=1)
    if watched.watch([chain.labels]).settled:  # without the log density
        assert pt.estimate(watched.sample, search=QUICK, rng=1).cautions == ()


def test_a_monitor_hears_the_log_density():
    """Chains that differ in nothing but it: a model would warn of them."""
    for shift, settled in ((0.0, True), (9.0, False)):
        watched = pt.monitor(search=QUICK, rng=1)
        for at in range(100):
            watched(np.array([[0, 0, 1]] * 2), np.array([0.0, shift]) + at % 2)
        assert watched.settled == settled
    assert "the chains differ in log density (R-hat" in watched.checks[-1].problems[0]


def test_a_callback_hears_every_draw_in_order_and_its_run_goes_on(tmp_path):
    heard = []
    model, X = pt.models.GaussianDPM(covariance="diag"), np.array([[0.0], [0.1], [5.0]])

    def five(draw):
        heard.append(draw)
        return len(heard) == 5

    chain = model.sample(X, draws=40, warmup=5, chains=2, rng=1, callback=five, path=tmp_path / "run")
    np.testing.assert_array_equal(np.stack(heard, axis=1), chain.labels)
    assert chain.labels.shape == (2, 5, 3)
    whole = pt.resume(tmp_path / "run")
    np.testing.assert_array_equal(whole.labels, model.sample(X, draws=40, warmup=5, chains=2, rng=1).labels)
    np.testing.assert_array_equal(whole.labels[:, :5], chain.labels)
    with pytest.raises(TypeError, match="callback must be a function, not int"):
        model.sample(X, draws=5, callback=3)
    with pytest.raises(ZeroDivisionError):
        model.sample(X, draws=5, callback=lambda draw: 1 / 0)


@pytest.mark.parametrize("model", ["mixture", "sbm", "lbm", "layers"])
def test_every_model_takes_a_callback(model):
    matrix = np.kron(np.eye(2, dtype=int), np.ones((4, 4), int)) - np.eye(8, dtype=int)
    sbm, draws = pt.models.StochasticBlockModel(directed=False), []

    def second(draw):
        draws.append(draw)
        return len(draws) == 2

    options = {"draws": 20, "warmup": 5, "chains": 2, "rng": 1, "callback": second}
    if model == "mixture":
        chain = pt.models.MixtureDPM().sample({"x": [0.0, 0.1, 5.0]}, **options)
    elif model == "sbm":
        chain = sbm.sample(matrix, **options)
    elif model == "lbm":
        chain = pt.models.LatentBlockModel().sample(matrix, **options)
        rows, columns = draws[0][:, :8], draws[0][:, 8:]
        assert not set(rows[0]) & set(columns[0])
    else:
        chain = pt.models.LayeredBlockModel({"a": sbm, "b": sbm}).sample({"a": matrix, "b": matrix}, **options)
    assert chain.n_draws == len(draws) == 2


def test_the_listener_waits_for_the_slowest_chain():
    class Job:
        def __init__(self, *parts):
            self.parts = [(np.array(part), None) for part in parts]

    heard = []
    listener = Listener(lambda draw: heard.append(draw.tolist()))
    jobs = [Job([[0], [1]], [[2]]), Job([[5]])]
    assert not listener.hear(jobs)
    assert heard == [[[0], [5]]]
    jobs[1].parts.append((np.array([[6], [7], [8]]), None))
    listener.hear(jobs)
    assert heard[1:] == [[[1], [6]], [[2], [7]]]


def test_what_can_be_fed():
    draws = make_draws(8, 400, 2, doubt=0.02, rng=1)
    one_by_one, blocks, chains = (pt.monitor(search=QUICK, rng=1) for _ in range(3))
    one_by_one.watch(iter(draws))
    blocks.watch([draws])
    assert [check.facts() for check in one_by_one.checks] == [check.facts() for check in blocks.checks]
    for half in (0, 1):
        chains.feed(draws[200 * half : 200 * half + 200], chain=half)
    assert chains.sample.n_chains == 2
    assert chains.to_pandas()["n_draws"].tolist() == [check.n_draws for check in chains.checks]
    assert "clusters" in repr(blocks)
    assert "draws" in blocks._repr_html_()


def test_a_part_with_fewer_clusters_than_the_estimate():
    draws = [[0, 0, 1, 1, 2, 2]] * 90 + [[0, 0, 0, 0, 1, 1]] * 10
    assert pt.monitor(rng=1).watch([draws[60:] + draws[:60]]).n_clusters == 3


def test_constant_draws_settle_and_stuck_chains_do_not():
    constant = pt.monitor()
    assert constant.feed([[0, 0, 1]] * 150)
    assert constant.checks[-1].radius == constant.checks[-1].expected_loss_error == 0
    stuck = pt.monitor(search=QUICK)
    assert not stuck.feed(np.stack([make_draws(30, 400, k, doubt=0.02, rng=k) for k in (2, 5)]))
    assert "the chains differ in" in stuck.checks[-1].problems[0]


def test_few_draws_and_bad_input():
    watched = pt.monitor()
    assert not watched.feed([0, 0, 1])
    with pytest.raises(ValueError, match="at least 4 draws of each chain, but there are 1"):
        watched.check_now()
    with pytest.raises(ValueError, match="draws has 4 items, but those before it have 3"):
        watched.feed([0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"draws has shape \(\)"):
        watched.feed(3)
    assert watched.watch([[[0, 0, 1]] * 9]).n_draws == 10
    with pytest.raises(ValueError, match="tolerance must be at least 0 and below 1, but it is 2"):
        pt.monitor(tolerance=2)
    with pytest.raises(ValueError, match="precision must be"):
        pt.monitor(precision=-0.1)
    with pytest.raises(ValueError, match="first must be at least 100"):
        pt.monitor(first=10)
    with pytest.raises(TypeError, match="search must be a Search"):
        pt.monitor(search=4)
    with pytest.raises(ValueError, match="no check yet: it was fed 0 draws"):
        pt.plots.settling(pt.monitor())


def test_a_growing_file(tmp_path):
    path, draws = tmp_path / "draws.csv", make_draws(8, 300, 2, doubt=0.02, rng=1)
    path.write_text(",".join("abcdefgh") + "\n")

    def sampler():
        with path.open("a") as file:
            for row in draws:
                line = ",".join(map(str, row)) + "\n"
                file.write(line[:5])
                file.flush()
                file.write(line[5:])
                time.sleep(0.0005)

    thread = Thread(target=sampler)
    thread.start()
    watched = pt.monitor(search=QUICK, rng=1, precision=0.0)
    last = watched.watch(pt.growing_draws(path, every=0.02, patience=0.5))
    thread.join()
    assert watched.n_draws == last.n_draws == 300
    assert watched.sample.names == tuple("abcdefgh")
    np.testing.assert_array_equal(as_sample(draws).labels, watched.sample.labels)


def test_a_growing_run(tmp_path):
    model, X = pt.models.GaussianDPM(covariance="diag"), np.array([[0.0], [0.1], [5.0]])
    chain = model.sample(X, draws=60, warmup=5, chains=2, rng=1, path=tmp_path / "run")
    began = time.monotonic()
    blocks = list(pt.growing_draws(tmp_path / "run", burn=10, patience=60))
    assert time.monotonic() - began < 30  # a finished run says so
    assert sum(block.n_draws for block in blocks) == 100
    np.testing.assert_array_equal(blocks[0].to_numpy()[:50], chain.labels[0, 10:])


def test_growing_draws_of_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv does not exist"):
        pt.growing_draws(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is not the folder of a run"):
        pt.growing_draws(tmp_path)
    (tmp_path / "empty.csv").write_text("a,b\n")
    assert list(islice(pt.growing_draws(tmp_path / "empty.csv", every=0.01, patience=0.05), 1)) == []
