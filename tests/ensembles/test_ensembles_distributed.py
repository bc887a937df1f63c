"""Split ensembles through Dask: the same as on one machine."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("distributed")

from partita import adjusted_rand
from partita.ensembles import NBCE, Ascent, as_base, distributed
from partita.ensembles.distributed import ColumnHost, RowHost, _union, fit_distributed, mean_dependence


@pytest.fixture(scope="module")
def base():
    rng = np.random.default_rng(5)
    truth = rng.integers(4, size=60)
    codes = np.stack([rng.permutation(6)[truth] for _ in range(8)], axis=1)
    noise = rng.random(codes.shape) < 0.2
    codes[noise] = rng.integers(6, size=noise.sum())
    codes[rng.random(codes.shape) < 0.1] = -1
    return codes


@pytest.fixture(scope="module")
def client():
    import dask
    from distributed import Client, LocalCluster

    patient = {"distributed.comm.timeouts.connect": "120s", "distributed.comm.timeouts.tcp": "120s"}
    with (
        dask.config.set(patient),
        LocalCluster(n_workers=4, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, timeout="120s") as connected,
    ):
        connected.wait_for_workers(4)
        yield connected


def parts_of(base, split, n):
    return np.array_split(base, n, axis=0 if split == "rows" else 1)


@pytest.mark.parametrize("split", ["rows", "columns"])
@pytest.mark.parametrize(("inference", "prior"), [("vb", "fsd"), ("cvb", "fsd"), ("cvb", "tsb")])
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_a_split_ensemble_equals_the_central_run(client, base, split, inference, prior, n_workers):
    weights = np.linspace(0.4, 1.0, base.shape[1])
    model = NBCE(inference, prior, truncation=12, ascent=Ascent(restarts=2, tol=1e-5), random_state=3, weights=weights)
    central = NBCE(**model.get_params()).fit(base)
    fitted = fit_distributed(model, parts_of(base, split, n_workers), split, client)
    np.testing.assert_allclose(fitted.responsibilities_, central.responsibilities_, atol=1e-10, rtol=0)
    assert fitted.bound_ == pytest.approx(central.bound_, abs=1e-8)
    assert np.array_equal(fitted.labels_, central.labels_)
    assert fitted.perplexity(base) == pytest.approx(central.perplexity(base), abs=1e-10)
    assert np.array_equal(fitted.predict(base), central.predict(base))


@pytest.mark.parametrize("split", ["rows", "columns"])
def test_the_weights_of_a_split_ensemble_follow_from_tables_of_pairs(client, split):
    """Two copies of each clustering on one host: each has the weight 1/2, as it has centrally."""
    rng = np.random.default_rng(2)
    truth = rng.integers(4, size=240)
    codes = np.stack([rng.permutation(4)[truth] for _ in range(6)], axis=1)
    noise = rng.random(codes.shape) < 0.2
    codes[noise] = rng.integers(4, size=noise.sum())
    doubled = np.repeat(codes, 2, axis=1)
    model = NBCE("vb", truncation=8, ascent=Ascent(restarts=1), random_state=3)
    fitted = fit_distributed(model, parts_of(doubled, split, 2), split, client)
    np.testing.assert_allclose(fitted.weights_, NBCE(**model.get_params()).fit(doubled).weights_, atol=0.06)
    np.testing.assert_allclose(fitted.weights_, 0.5, atol=0.06)
    assert adjusted_rand(fitted.labels_, truth) > 0.95


def test_a_host_with_one_label_per_clustering_is_no_judge_of_dependence(base):
    """Parts that are sorted by cluster: constant clusterings would seem to be copies."""
    levels = tuple(np.arange(6) for _ in range(2))
    constant = RowHost(np.zeros((5, 2), dtype=int), levels).dependence()
    assert np.isnan(constant).all()
    known = np.array([[1.0, 0.2], [0.2, 1.0]])
    np.testing.assert_allclose(mean_dependence([constant, known], [50, 5]), known)
    np.testing.assert_allclose(mean_dependence([constant], [5]), np.eye(2))
    np.testing.assert_allclose(mean_dependence([known, np.ones((2, 2))], [3, 1]), [[1.0, 0.4], [0.4, 1.0]])


def test_no_answer_of_a_host_holds_base_labels(base):
    """What a host can be asked for is statistics and responsibilities; none has one column per clustering."""
    rows, columns = RowHost(base, tuple(np.arange(6) for _ in range(8))), ColumnHost(base[:, :3])
    step = rows.linear(np.zeros((48, 5)), np.zeros(5))
    assert step.counts.shape == (48, 5)
    assert rows.responsibilities().shape == (60, 5)
    columns.keep(columns.items())
    assert columns.linear_scores(np.zeros((18, 5))).shape == (60, 5)
    assert columns.counts(rows.responsibilities()).shape == (18, 5)


@pytest.mark.parametrize("split", ["rows", "columns"])
def test_every_part_is_read_where_it_is(client, base, split, monkeypatch):
    """All parts on one host, and the others idle: a scheduler that may choose would move some."""
    home = list(client.scheduler_info(n_workers=-1)["workers"])[-1]
    placed = [client.scatter(part, workers=[home], hash=False) for part in parts_of(base, split, 4)]
    made, submit = [], distributed.Hosts.submit

    def recording(self, *arguments, **options):
        futures = submit(self, *arguments, **options)
        made.extend(futures)
        return futures

    monkeypatch.setattr(distributed.Hosts, "submit", recording)
    fit_distributed(NBCE("vb", truncation=5, ascent=Ascent(restarts=1), random_state=1), placed, split, client)
    hosts = {host for future in made for host in client.who_has([future])[future.key]}
    assert hosts == {home}
    assert {host for part in placed for host in client.who_has([part])[part.key]} == {home}


def test_bad_splits_are_refused(base):
    with pytest.raises(ValueError, match="'vb' or 'cvb'"):
        fit_distributed(NBCE(), [base], "rows", None)
    with pytest.raises(ValueError, match="split must be"):
        fit_distributed(NBCE("vb"), [base], "diagonal", None)
    with pytest.raises(ValueError, match="parts is empty"):
        fit_distributed(NBCE("vb"), [], "rows", None)


def test_labels_that_are_numbers_on_one_host_and_words_on_another():
    """NumPy makes text of both."""
    found = [as_base([[1, "a"], [2, "b"]]).levels, as_base([["noise", "b"], [2, "c"]]).levels]
    assert [labels.tolist() for labels in _union(found)] == [[1, 2, "noise"], ["a", "b", "c"]]


@pytest.mark.parametrize(("split", "inference"), [("rows", "cvb"), ("columns", "vb")])
@pytest.mark.filterwarnings("ignore")  # what Dask says when workers die
def test_a_lost_worker_changes_nothing(base, split, inference, monkeypatch):
    """It is killed in the middle of the fit; Dask starts another one."""
    import os
    import signal

    from distributed import Client, LocalCluster

    settings = {"truncation": 12, "ascent": Ascent(restarts=2, tol=1e-5), "weights": np.full(base.shape[1], 0.7)}
    model = NBCE(inference, random_state=np.random.default_rng(3), **settings)
    central = NBCE(inference, random_state=np.random.default_rng(3), **settings).fit(base)
    monkeypatch.setattr(distributed, "TURN_SECONDS", 0.2)
    asked, ask_each = [], distributed.Actors.ask_each
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, timeout="120s") as client,
    ):
        client.wait_for_workers(2)

        def ask_and_kill(self, *arguments):
            asked.append(arguments)
            if len(asked) == 12:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
            return ask_each(self, *arguments)

        monkeypatch.setattr(distributed.Actors, "ask_each", ask_and_kill)
        fitted = fit_distributed(model, parts_of(base, split, 2), split, client)
    assert len(asked) > 24
    np.testing.assert_allclose(fitted.responsibilities_, central.responsibilities_, atol=1e-10, rtol=0)
    assert np.array_equal(fitted.labels_, central.labels_)
