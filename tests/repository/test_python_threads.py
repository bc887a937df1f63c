"""Several Python threads at once, as free-threaded Python makes them run: the answers are those of one thread."""

import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import partita as pt
from partita.datasets import load_karate, make_draws

N_THREADS = 4
DRAWS = make_draws(n_items=30, n_draws=80, n_clusters=4, rng=1)
SAMPLE = pt.as_sample(DRAWS)  # one sample for all threads: whatever it computes on first use is asked for at once
POINTS = np.random.default_rng(1).normal(size=(40, 2)) + np.repeat([[0.0], [6.0]], 20, axis=0)


def best_of(loss):
    return pt.estimate(SAMPLE, loss, search=pt.Search(runs=4), rng=1, check_draws=False).labels


WORK = {loss: lambda loss=loss: best_of(loss) for loss in pt.losses.LOSSES} | {
    "draws": lambda: pt.as_sample(DRAWS).labels,
    "similarity": lambda: pt.similarity(SAMPLE),
    "ball": lambda: pt.credible_ball(best_of("vi"), SAMPLE).radius,
    "mixture": lambda: pt.models.GaussianDPM().sample(POINTS, draws=30, warmup=10, chains=2, rng=1).labels,
    "network": lambda: pt.models.StochasticBlockModel(directed=False).maximize(load_karate().data, rng=1).labels,
    "ensemble": lambda: pt.ensembles.NBCE(truncation=10, random_state=1).fit(DRAWS[:6].T).labels_,
}


def at_once(work):
    """The answers of several threads that begin together."""
    together = threading.Barrier(N_THREADS)

    def wait_and_work(_):
        together.wait()
        return work()

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(wait_and_work, range(N_THREADS)))


@pytest.mark.parametrize("name", WORK)
@pytest.mark.filterwarnings("ignore")  # what a result warns of is the same for all threads
def test_threads_that_work_at_once_have_the_answers_of_one(name):
    for answer in at_once(WORK[name]):
        np.testing.assert_array_equal(answer, WORK[name]())


def test_different_work_at_once():
    with ThreadPoolExecutor(N_THREADS) as pool:
        answers = dict(zip(pt.losses.LOSSES, pool.map(best_of, pt.losses.LOSSES), strict=True))
    for loss, labels in answers.items():
        np.testing.assert_array_equal(labels, best_of(loss))


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python is not free-threaded")
def test_the_core_leaves_the_interpreter_lock_off():
    assert not sys._is_gil_enabled()  # an extension that does not declare itself turns it on when imported
