"""Searches and arrays on a Dask cluster: the answers of one machine, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("distributed")

from benchmarks.large import ThreadPool

import partita as pt
from partita.datasets import make_draws
from partita.distributed import pool as pools
from partita.distributed import runs as spreading
from partita.distributed import shards as sharding
from partita.distributed.pool import DaskPool
from partita.distributed.shards import ItemScores, MergeChanges, Value, search_shards
from partita.models import GaussianDPM
from partita.partitions.labels import gapless
from partita.search.core import native_options
from partita.search.deadline import Deadline
from partita.search.jobs import Job


def cluster_of(n_workers, **options):
    import dask
    from distributed import Client, LocalCluster

    class Opened:
        def __enter__(self):
            patient = {
                "distributed.comm.timeouts.connect": "120s",
                "distributed.comm.timeouts.tcp": "120s",
                "distributed.deploy.lost-worker-timeout": pools.LOST_FOR_GOOD,  # as in a cluster of our own
            }
            self.config = dask.config.set(patient)
            own = {"processes": False, "dashboard_address": "127.0.0.1:0", **options}
            self.cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, **own)
            self.client = Client(self.cluster, timeout="120s", set_as_default=False)
            if n_workers:
                self.client.wait_for_workers(n_workers)
            return self.client

        def __exit__(self, *error):
            self.client.close()
            self.cluster.close()
            self.config.__exit__(*error)

    return Opened()


@pytest.fixture(scope="module")
def clients():
    """Clusters of 1, 2 and 4 workers in this process."""
    with cluster_of(1) as one, cluster_of(2) as two, cluster_of(4) as four:
        yield {1: one, 2: two, 4: four}


@pytest.fixture(scope="module")
def sample():
    return pt.as_sample(make_draws(80, 300, 5, rng=1))


SEARCH = pt.Search(runs=5)


# ---- the same answer everywhere


@pytest.mark.parametrize("n_workers", [1, 2, 4])
@pytest.mark.parametrize(
    ("loss", "method"), [("vi", "search"), ("binder", "search"), ("nvi", "salso"), ("vi", "greedy")]
)
def test_runs_on_workers_are_the_runs_of_one_machine(clients, sample, n_workers, loss, method):
    here = pt.estimate(sample, loss, method, SEARCH, rng=3)
    there = pt.distributed.estimate(sample, loss, method, SEARCH, rng=3, client=clients[n_workers])
    assert np.array_equal(here.labels, there.labels)
    assert there.expected_loss == here.expected_loss
    facts = [[(run.start, run.sweeps, run.moves, run.loss, run.trace) for run in best.runs] for best in (here, there)]
    assert facts[0] == facts[1]


@pytest.mark.parametrize("n_threads", [0, 1, 2, 64])
@pytest.mark.parametrize("n_runs", [0, 1, 7, 64, 1000])
def test_blocks_have_each_run_once_and_are_short(n_runs, n_threads):
    blocks = spreading._blocks(n_runs, n_threads)
    assert [run for block in blocks for run in block] == list(range(n_runs))
    assert all(1 <= len(block) <= spreading.MAX_RUNS_PER_BLOCK for block in blocks)
    assert len(blocks) >= min(n_runs, spreading.BLOCKS_PER_THREAD * n_threads)


def test_a_worker_out_of_time_follows_the_search_all_the_same():
    """A clock of its own would make a worker skip stages that the client did not, and do runs of another one."""
    sample = pt.as_sample(np.random.default_rng(1).integers(4, size=(12, 60)))  # many local optima, and so crossings
    options = native_options(sample, pt.Search(runs=8, n_jobs=1), np.random.default_rng(1))
    stages = []

    def keep_stage(stage):
        stages.append([stage.run(index) for index in range(stage.n_runs)])
        return stages[-1]

    job = Job("search", sample, pt.NVI(), options)
    job.run(None, keep_stage)
    late = replace(job, options=options.within(1e-9))
    assert len(stages[1]) > 1
    with pytest.raises(IndexError, match="no run of that number"):
        spreading.some_runs(range(len(stages[1])), late, stages[0])
    sent = []

    class Spy(ThreadPool):
        def share(self, value, worker=None):
            sent.append(value)
            return super().share(value, worker)

    spreading.engine_on(Spy(1))(late, None)
    found = spreading.some_runs(range(len(stages[1])), sent[0], stages[0])
    assert [run.labels.tolist() for run in found] == [run.labels.tolist() for run in stages[1]]


def test_levels_of_draws_and_of_items_on_workers(clients, monkeypatch):
    """Searches of several stages and several jobs."""
    many = pt.as_sample(make_draws(40, 700, 4, rng=2))
    here, there = (find(many, search=SEARCH, rng=1) for find in (pt.estimate, on(clients[2])))
    assert np.array_equal(here.labels, there.labels)
    from partita.search import multilevel

    monkeypatch.setattr(multilevel, "MANY_ITEMS", 60)
    monkeypatch.setattr(multilevel, "COARSE_ITEMS", 30)
    wide = pt.as_sample(make_draws(90, 60, 4, rng=2))
    here, there = (find(wide, search=SEARCH, rng=1) for find in (pt.estimate, on(clients[2])))
    assert np.array_equal(here.labels, there.labels)


def on(client):
    return lambda *arguments, **options: pt.distributed.estimate(*arguments, client=client, **options)


def test_a_mapped_sample_on_workers(clients, sample, tmp_path):
    sample.save(tmp_path / "kept")
    here = pt.estimate(sample, search=SEARCH, rng=3)
    there = pt.distributed.estimate(pt.open_sample(tmp_path / "kept"), search=SEARCH, rng=3, client=clients[2])
    assert np.array_equal(here.labels, there.labels)


@pytest.mark.parametrize("loss", ["vi", "binder", "nvi", "id", "omari"])
def test_any_number_of_shards_gives_the_same(sample, monkeypatch, loss):
    monkeypatch.setattr(sharding, "COARSE_DRAWS", 40)
    found = [in_shards(sample, loss, n) for n in range(1, 8)]
    for other in found[1:]:
        assert np.array_equal(found[0].labels, other.labels)
        assert np.array_equal(pt.canonical(other.labels), other.labels)
        assert [run.loss for run in found[0].runs] == [run.loss for run in other.runs]
    kind, reported = pt.losses.as_loss(loss), min(run.loss for run in found[0].runs)
    reached = pt.expected_loss(found[0].labels, sample, kind)
    assert reported == pytest.approx(reached, rel=1e-6)
    best = pt.estimate(sample, loss, search=SEARCH, rng=3).expected_loss
    assert reached <= best * (1 + 1e-3)
    assert reached <= pt.expected_loss(sample, sample, kind).min()


def in_shards(sample, loss, n_shards, pool=None):
    pool = ThreadPool(2) if pool is None else pool
    rng = np.random.default_rng(3)
    return search_shards(sample, pt.losses.as_loss(loss), SEARCH, rng, pool, n_shards)


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_same_shards(clients, sample, monkeypatch, n_workers):
    monkeypatch.setattr(sharding, "COARSE_DRAWS", 40)
    here = in_shards(sample, "vi", 1)
    there = pt.distributed.estimate(sample, search=SEARCH, rng=3, client=clients[n_workers], shards=3)
    assert np.array_equal(here.labels, there.labels)


@pytest.mark.parametrize("questions", [0, 1, 3])
def test_shards_stop_in_time_with_the_best_so_far(sample, monkeypatch, questions):
    """However many questions there was time for, the answer is a whole partition, and no worse than with fewer."""
    monkeypatch.setattr(sharding, "COARSE_DRAWS", 40)
    asked, ask = [], sharding._Shards.ask

    def ask_and_count(self, *arguments):
        asked.append(arguments)
        self._until = Deadline(np.inf if len(asked) <= questions else -np.inf)
        return ask(self, *arguments)

    monkeypatch.setattr(sharding._Shards, "ask", ask_and_count)
    found = in_shards(sample, "vi", 2)
    assert len(asked) == questions + 1
    assert np.array_equal(pt.canonical(found.labels), found.labels)
    assert pt.expected_loss(found.labels, sample) <= pt.expected_loss(sample, sample).min()


def test_shards_with_gaps_and_weights(monkeypatch):
    monkeypatch.setattr(sharding, "COARSE_DRAWS", 40)
    draws = make_draws(50, 200, 4, rng=6)
    draws[np.random.default_rng(1).random(draws.shape) < 0.1] = -1
    weights = np.random.default_rng(2).random(200)
    weights[::5] = 0
    gappy = pt.as_sample(draws, missing=-1, weights=weights)
    found = [in_shards(gappy, "vi", n) for n in (1, 4)]
    assert np.array_equal(found[0].labels, found[1].labels)
    assert pt.expected_loss(found[0].labels, gappy) <= pt.estimate(gappy, rng=1).expected_loss * (1 + 1e-3)


def test_a_shard_follows_its_labels_by_moves_as_by_a_fresh_start(sample):
    """The scores of a shard that went through many partitions are those of one that starts at the last."""
    rng = np.random.default_rng(1)
    items = np.arange(sample.n_items, dtype=np.uint32)
    for loss in (pt.VI(), pt.NVI(), pt.OneMinusARI()):
        ends = np.array([100, sample.n_unique], np.uint32)
        made_of = (pt.PartitionSample(sample.labels, sample.weights, sample.index), loss, ends, 1, 2.0**-50)
        old = sharding.ShardOfDraws(*made_of)
        labels = sample.labels[0].astype(np.uint32)
        for _ in range(30):
            labels = labels.copy()
            labels[rng.integers(len(labels), size=3)] = rng.integers(labels.max() + 1, size=3)
            labels = gapless(labels)
            scores = old.answer(ItemScores(0, labels, items, False))
        fresh = sharding.ShardOfDraws(*made_of)
        assert np.array_equal(scores, fresh.answer(ItemScores(0, labels, items, False)))
        assert old.answer(Value(0, labels)) == fresh.answer(Value(0, labels))
        assert np.array_equal(old.answer(MergeChanges(0, labels)), fresh.answer(MergeChanges(0, labels)))


def test_chains_on_workers(clients):
    X = np.random.default_rng(1).normal(size=(15, 2))
    chains = [
        pt.distributed.sample_chains(GaussianDPM(), X, chains=3, draws=6, warmup=4, rng=5, client=clients[n])
        for n in (1, 2)
    ]
    assert chains[0].labels.shape == (3, 6, 15)
    assert np.array_equal(chains[0].labels, chains[1].labels)
    assert not np.array_equal(chains[0].labels[0], chains[0].labels[1])


@pytest.mark.parametrize("kind", ["gaussian", "mixture", "network", "matrix"])
def test_chains_on_workers_are_those_of_sample(clients, kind):
    """Also their starts, of which each chain has its own kind."""
    rng = np.random.default_rng(2)
    model, data = {
        "gaussian": (GaussianDPM(), rng.normal(size=(60, 2))),
        "mixture": (pt.models.MixtureDPM(), rng.normal(size=(60, 2))),
        "network": (pt.models.StochasticBlockModel(), (rng.random((20, 20)) < 0.3) & ~np.eye(20, dtype=bool)),
        "matrix": (pt.models.LatentBlockModel(), rng.random((12, 10)) < 0.4),
    }[kind]
    settings = {"chains": 4, "draws": 3, "warmup": 0, "rng": 5}
    here, there = (
        model.sample(data, **settings),
        pt.distributed.sample_chains(model, data, **settings, client=clients[2]),
    )
    assert np.array_equal(here.labels, there.labels)
    assert here.attrs == there.attrs


# ---- arrays


def test_arrays_are_those_of_one_machine(sample):
    matrix = pt.distributed.similarity(sample, block=33, dtype=np.float64)
    assert matrix.chunks == ((33, 33, 14), (33, 33, 14))
    np.testing.assert_allclose(matrix.compute(), pt.similarity(sample), atol=1e-12)
    center = pt.estimate(sample, rng=1).labels
    for loss in ("vi", "binder", "nid"):
        found = pt.distributed.distances(center, sample, loss, block=70)
        assert np.array_equal(found.compute(), pt.distances(center, sample, loss))
    some = pt.as_sample(sample.labels[:40])
    for loss in (pt.VI(a=0.5), pt.NVI()):
        found = pt.distributed.pairwise_distances(some, loss, block=15)
        np.testing.assert_allclose(found.compute(), pt.pairwise_distances(some, loss), atol=1e-12)


def test_a_ball_is_that_of_one_machine(clients, sample):
    best = pt.estimate(sample, rng=1)
    with clients[2].as_current():
        there = pt.distributed.credible_ball(best, level=0.9, block=64)
    here = pt.credible_ball(best, level=0.9)
    assert (there.radius, there.mass) == (here.radius, here.mass)
    assert all(np.array_equal(x, y) for x, y in zip(there.horizontal, here.horizontal, strict=True))


# ---- workers and schedulers that die


def kill_workers(client, times, stop, rng, pause):
    """Kills a worker, with SIGKILL, at random moments."""
    killed = 0
    while killed < times and not stop.is_set():
        time.sleep(rng.uniform(*pause))
        pids = [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]
        if pids:
            os.kill(pids[rng.integers(len(pids))], signal.SIGKILL)
            killed += 1
    return killed


def survives(client, kills, search, expected, pause):
    stop, killed = threading.Event(), []
    killer = threading.Thread(
        target=lambda: killed.append(kill_workers(client, kills, stop, np.random.default_rng(1), pause))
    )
    killer.start()
    try:
        while killer.is_alive():
            assert np.array_equal(search().labels, expected)
    finally:
        stop.set()
        killer.join()
    assert killed == [kills]
    assert np.array_equal(search().labels, expected)


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")  # what Dask says when workers die
def test_killed_workers_change_nothing(kills, monkeypatch):
    monkeypatch.setattr(sharding, "COARSE_DRAWS", 100)
    sample = pt.as_sample(make_draws(300, 250, 8, rng=4))
    here = pt.estimate(sample, search=pt.Search(runs=8), rng=3).labels
    split = in_shards(sample, "vi", 1).labels
    with cluster_of(2, processes=True) as client:
        fan_out = lambda: pt.distributed.estimate(sample, search=pt.Search(runs=8), rng=3, client=client)  # noqa: E731
        survives(client, kills, fan_out, here, (0.3, 2))
        pool = DaskPool(client)
        survives(client, kills, lambda: in_shards(sample, "vi", 4, pool), split, (0.3, 2))


def test_a_cluster_of_our_own_is_patient_with_its_workers():
    import dask

    def patience():
        return dask.config.get("distributed.deploy.lost-worker-timeout")

    before = patience()
    with pools.connected(workers=1):
        assert patience() == pools.LOST_FOR_GOOD
    assert patience() == before


def test_a_wrong_address_is_said_soon(sample, monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE_SECONDS", 3)
    begun = time.monotonic()
    with pytest.raises(ConnectionError, match=r"there is no Dask scheduler at tcp://127\.0\.0\.1:9"):
        pt.distributed.estimate(sample, client="tcp://127.0.0.1:9")
    with pytest.raises(ConnectionError, match="there is no Dask scheduler at nowhere"):
        pt.distributed.estimate(sample, client="nowhere://else")
    assert time.monotonic() - begun < 30


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_goes_away_is_said(monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE_SECONDS", 3)
    sample = pt.as_sample(make_draws(400, 200, 8, rng=4))
    opened = cluster_of(1)
    client = opened.__enter__()
    threading.Timer(1.0, opened.cluster.close).start()
    try:
        with pytest.raises(ConnectionError, match=r"is gone|has no worker"):
            pt.distributed.estimate(sample, "nvi", search=pt.Search(runs=10_000), rng=1, client=client)
    finally:
        opened.__exit__(None, None, None)


def test_a_cluster_without_workers_is_said(sample, monkeypatch):
    monkeypatch.setattr(pools, "PATIENCE_SECONDS", 1)
    with cluster_of(0) as client, pytest.raises(ConnectionError, match="has no worker"):
        pt.distributed.estimate(sample, client=client)


def test_errors_of_a_task_are_its_own(clients):
    def fails(number):
        raise ZeroDivisionError(f"task {number}")

    with pytest.raises(ZeroDivisionError, match="task 1"):
        DaskPool(clients[1]).map(fails, [(1,)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "method must be one of search, salso, greedy"),
        ({"shards": 0}, "shards must be at least 1"),
        ({"shards": 2, "method": "salso"}, "shards is for the method 'search'"),
        ({"workers": 0}, "workers must be at least 1"),
    ],
)
def test_bad_options(sample, options, message):
    with pytest.raises(ValueError, match=message):
        pt.distributed.estimate(sample, **options)


def test_time_runs_out_on_workers_too(clients):
    sample = pt.as_sample(make_draws(400, 200, 8, rng=4))
    begun = time.monotonic()
    best = pt.distributed.estimate(sample, "nvi", search=pt.Search(runs=10_000, seconds=1), rng=1, client=clients[2])
    assert time.monotonic() - begun < 60
    assert best.labels.shape == (400,)


# ---- the network


def listening():
    """Host and port on which this process and its children accept connections."""
    import psutil

    here = psutil.Process()
    return {
        tuple(connection.laddr)
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }


def test_a_cluster_of_our_own_listens_on_this_machine_only():
    """Scheduler, dashboard, workers and nannies; not even a setting of Dask for all clusters opens them."""
    import dask

    before = listening()
    with dask.config.set({"distributed.scheduler.dashboard.address": ":0"}), pools.connected(workers=2) as pool:
        assert pool.n_threads == 2
        hosts = {host for host, _ in listening() - before}
    assert hosts == {"127.0.0.1"}
