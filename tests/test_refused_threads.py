"""The system refuses threads, all of them or part-way: the answer is the same, or an error says so."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of the address space")

#: A thread's stack takes as much of the address space as the limit of stacks says when a program starts; with room
#: for this many stacks, exactly this many threads start.
STACK = 1 << 30
CHILD = """
import os, resource, sys
import warnings
import numpy as np
import partita as pt

warnings.simplefilter("ignore", pt.MixingWarning)  # the chains are short

def allow_threads(count):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limit = used + count * {stack} + {stack} // 2
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

draws = pt.as_sample(pt.datasets.make_draws(300, 200, 6, rng=1))
search = pt.Search(runs=8, n_jobs=4)
X = np.random.default_rng(1).normal(size=(60, 2))
graph = (np.random.default_rng(2).random((40, 40)) < 0.1) & ~np.eye(40, dtype=bool)
before = len(os.listdir("/proc/self/task"))
allow_threads(int(sys.argv[1]))
try:
    answer = {call}
    print(np.asarray(answer).tolist())
except RuntimeError as error:
    print("RuntimeError:", error)
assert len(os.listdir("/proc/self/task")) == before
"""
CALLS = {
    "estimate": "pt.estimate(draws, 'vi', search=search, rng=1).labels",
    "similarity": "pt.similarity(draws, n_jobs=4)[:3]",
    "pairwise_distances": "pt.pairwise_distances(draws, n_jobs=4)[:3]",
    "sample": "pt.models.GaussianDPM().sample(X, draws=20, chains=4, n_jobs=4, rng=1).labels[:, -1]",
    "maximize": "pt.models.StochasticBlockModel().maximize(graph.astype(int), n_jobs=4, rng=1).labels",
}


def answer(call, granted):
    import os
    import resource

    environment = {"PYTHONPATH": ":".join(sys.path), "OPENBLAS_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
    script = CHILD.replace("{call}", CALLS[call]).replace("{stack}", str(STACK))
    child = subprocess.run(
        [sys.executable, "-c", script, str(granted)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.RLIM_INFINITY)),
    )
    assert (child.returncode, child.stderr) == (0, "")
    return child.stdout


@pytest.mark.parametrize("call", CALLS)
def test_the_same_answer_on_the_threads_that_started(call):
    wanted = answer(call, 4)
    assert "Error" not in wanted
    for granted in (3, 2, 1):
        assert answer(call, granted) == wanted


@pytest.mark.parametrize("call", CALLS)
def test_without_any_thread(call):
    """Calls that the calling thread can do alone are done; the others say what is missing."""
    without = answer(call, 0)
    assert without == answer(call, 4) or without.startswith("RuntimeError: the system refuses a thread")
