"""The system refuses threads, all of them or part-way: the answer is the same, or an error says so."""

import json
import os
import resource
import sys

import pytest

from support import forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of the address space")

#: A thread's stack takes as much of the address space as the limit of stacks says when a program starts; with room
#: for this many stacks, exactly this many threads start.
STACK = 1 << 30
CHILD = """
import json, os, resource, sys, warnings
import numpy as np
import partita as pt

warnings.simplefilter("ignore", pt.MixingWarning)  # the chains are short
draws = pt.as_sample(pt.datasets.make_draws(60, 100, 6, rng=1))
search = pt.Search(runs=8, n_jobs=4)
X = np.random.default_rng(1).normal(size=(30, 2))
same = np.arange(20)[:, None] // 10 == np.arange(20) // 10
graph = (np.random.default_rng(2).random((20, 20)) < np.where(same, 0.6, 0.05)) & ~np.eye(20, dtype=bool)
calls = json.loads(sys.argv[1])

def answer(call, granted):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = used + granted * {stack} + {stack} // 2
    before = len(os.listdir("/proc/self/task"))
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        return np.asarray(eval(call)).tolist()
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert len(os.listdir("/proc/self/task")) == before

for call in calls.values():
    eval(call)  # whatever is loaded or kept at the first call is there
print(json.dumps({name: [answer(call, granted) for granted in range(5)] for name, call in calls.items()}))
"""
CALLS = {
    "estimate": "pt.estimate(draws, 'vi', search=search, rng=1).labels",
    "similarity": "pt.similarity(draws, n_jobs=4)[:3]",
    "pairwise_distances": "pt.pairwise_distances(draws, n_jobs=4)[:3]",
    "sample": "pt.models.GaussianDPM().sample(X, draws=20, chains=4, n_jobs=4, rng=1).labels[:, -1]",
    "maximize": "pt.models.StochasticBlockModel().maximize(graph.astype(int), n_jobs=4, rng=1).labels",
}


@pytest.fixture(scope="module")
def answers():
    """The answers of each call with room for none to four threads."""
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
    child = forks.command(
        sys.executable,
        "-c",
        CHILD.replace("{stack}", str(STACK)),
        json.dumps(CALLS),
        timeout=240,
        env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.RLIM_INFINITY)),
    )
    assert (child.returncode, child.stderr) == (0, "")
    return json.loads(child.stdout)


@pytest.mark.parametrize("call", CALLS)
def test_the_same_answer_on_the_threads_that_started(answers, call):
    wanted = answers[call][4]
    assert "Error" not in wanted
    for granted in (3, 2, 1):
        assert answers[call][granted] == wanted


@pytest.mark.parametrize("call", CALLS)
def test_without_any_thread(answers, call):
    """Calls that the calling thread can do alone are done; the others say what is missing."""
    without = answers[call][0]
    assert without == answers[call][4] or without.startswith("RuntimeError: the system refuses a thread")
