"""Exceptions of signal handlers and callbacks: they leave every long call, and no thread is left behind."""

import sys

import numpy as np
import pytest

import partita as pt
from support import forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")

#: What is known to the calls below. Each of them would take minutes or longer.
PRELUDE = """
import os, signal, sys, time, warnings
import numpy as np
import partita as pt
from partita.models import GaussianDPM, LatentBlockModel, MixtureDPM, StochasticBlockModel
from partita.search.clique_lp import solve_cliques
from partita.search.deadline import Deadline

RNG = np.random.default_rng(1)
N_JOBS = 3

def threads():
    time.sleep(0.05)  # a thread that was joined may be in the list for a moment
    return len(os.listdir("/proc/self/task"))

def draws(n_items, n_draws, clusters=20):
    return pt.as_sample(pt.datasets.make_draws(n_items, n_draws, clusters, rng=1))

def estimate(method, sample, loss="nvi", **options):
    search = pt.Search(runs=100_000, n_jobs=N_JOBS, **options)
    return lambda: pt.estimate(sample, loss, method, search, rng=1)

def graph(n):
    edges = (RNG.random((n, n)) < 0.1).astype(int)
    np.fill_diagonal(edges, 0)
    return edges

def costs(n):
    values = np.triu(RNG.normal(size=(n, n)), 1)
    return values + values.T

def chain(model, data, **options):
    return lambda: model.sample(data, draws=10**6, chains=4, n_jobs=N_JOBS, rng=1, **options)
"""

CALLS = {
    "search": "estimate('search', draws(2000, 400))",
    "salso": "estimate('salso', draws(2000, 400))",
    "greedy": "estimate('greedy', draws(2000, 400))",
    "hasse": "estimate('hasse', draws(20_000, 1000), 'vi')",
    "laugreen": "estimate('laugreen', draws(1000, 200), 'binder')",
    "enumerate": "estimate('enumerate', draws(12, 100, 4), max_clusters=12)",
    "exact": "lambda: solve_cliques(costs(60), Deadline.after(1000), np.zeros(60, np.int64))",
    "bound": "(lambda best: lambda: best.bound(seconds=1000))(pt.estimate(draws(300, 200), rng=1))",
    "GaussianDPM": "chain(GaussianDPM(), RNG.normal(size=(500, 3)))",
    "MixtureDPM": "chain(MixtureDPM(), {'x': RNG.normal(size=500), 'y': ['a', 'b', None, 'c'] * 125})",
    "StochasticBlockModel": "chain(StochasticBlockModel(), graph(200))",
    "LatentBlockModel": "chain(LatentBlockModel(), graph(200))",
    "maximize": "lambda: StochasticBlockModel().maximize(graph(1500), restarts=10**6, n_jobs=N_JOBS, rng=1)",
    "NBCE": "lambda: pt.ensembles.NBCE(sampling=pt.models.Sampling(draws=10**6)).fit(RNG.integers(0, 5, (500, 10)))",
    "similarity": "lambda: [pt.similarity(draws(3000, 500)) for _ in range(10**6)]",
    "pairwise_distances": "lambda: [pt.pairwise_distances(draws(1000, 1000)) for _ in range(10**6)]",
}


#: Calls of many steps, or of one long one, that used to go on for many seconds after Ctrl-C. Each takes minutes.
LONG_STEPS = {
    "modes": "(lambda sample: lambda: pt.modes(sample, 6, search=pt.Search(runs=5000, n_jobs=1), rng=1))"
    "(draws(400, 300))",
    "weights_for": "(lambda sample, search: lambda: pt.weights_for(sample, n_clusters=7, search=search))"
    "(draws(800, 400), pt.Search(runs=5000, n_jobs=1))",
    "diagnostics": "(lambda chains: lambda: pt.diagnostics(chains, search=pt.Search(runs=5000, n_jobs=1), rng=1))"
    "(pt.datasets.make_draws(800, 400, 20, rng=1).reshape(4, 100, 800))",
    "pairwise_distances": "(lambda sample: lambda: pt.pairwise_distances(sample, n_jobs=1))(draws(5000, 3000))",
    "similarity": "(lambda sample: lambda: pt.similarity(sample, n_jobs=1))(draws(12_000, 3000))",
}


def run_child(script, *, code=0, stderr="", seconds=120):
    """What a child printed; it must end by itself with that exit code and those words on stderr: no abort."""
    environment = {"PYTHONPATH": ":".join(sys.path), "OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    child = forks.command(sys.executable, "-c", script, timeout=seconds, env=environment)
    assert (child.returncode, child.stderr) == (code, stderr)
    return child.stdout


@pytest.mark.parametrize("name", CALLS)
def test_the_exception_of_a_handler_leaves_the_call_and_no_thread_stays(name):
    """A timer's handler raises an exception of its own while the call computes on several threads."""
    out = run_child(
        PRELUDE
        + f"""
class TimeIsUp(Exception): pass

def handler(number, frame):
    raise TimeIsUp

call = {CALLS[name]}
signal.signal(signal.SIGALRM, handler)
before = threads()
signal.setitimer(signal.ITIMER_REAL, 0.6)
try:
    call()
except TimeIsUp:
    left = threads() - before
    print("raised, threads left:", left)
"""
    )
    assert out == "raised, threads left: 0\n"


@pytest.mark.parametrize("name", ["search", "GaussianDPM", "maximize", "exact"])
def test_sigterm_with_a_handler_that_exits(name):
    """What service managers send: SystemExit leaves the call, the process ends with the handler's code."""
    out = run_child(
        PRELUDE
        + f"""
import atexit, threading
call = {CALLS[name]}
before = threads()
atexit.register(lambda: print("threads left:", threads() - before, flush=True))
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit("asked to end"))
signal.setitimer(signal.ITIMER_REAL, 0.6)
signal.signal(signal.SIGALRM, lambda number, frame: os.kill(os.getpid(), signal.SIGTERM))
call()
print("returned")
""",
        code=1,
        stderr="asked to end\n",
    )
    assert out == "threads left: 0\n"


def test_chains_on_disk_are_whole_after_an_exception(tmp_path):
    """Nothing is written once the exception is out, and the run goes on to the chain of a run without it."""
    settings = "draws=20_000, warmup=200, chains=2, rng=4"  # several seconds on a fast machine
    out = run_child(
        PRELUDE
        + f"""
from partita.models.chains import sampling
sampling.CHECKPOINT_SECONDS, sampling.TURN_SECONDS = 0.01, 0.005
class TimeIsUp(Exception): pass

def handler(number, frame):
    raise TimeIsUp

def listing():
    return sorted((entry.name, entry.stat().st_size) for entry in os.scandir(path))

path = {str(tmp_path / "run.partita")!r}
X = np.random.default_rng(3).normal(size=(200, 2))
GaussianDPM().sample(X, draws=2, warmup=0, chains=1, rng=1)  # imports what it needs
signal.signal(signal.SIGPROF, handler)
signal.setitimer(signal.ITIMER_PROF, 0.3)  # of a processor, so that a busy machine has begun, too
try:
    GaussianDPM().sample(X, path=path, n_jobs=2, {settings})
except TimeIsUp:
    there = listing()
    time.sleep(0.5)
    print(listing() == there)
""",
    )
    assert out == "True\n"
    X = np.random.default_rng(3).normal(size=(200, 2))
    whole = pt.models.GaussianDPM().sample(X, draws=20_000, warmup=200, chains=2, rng=4)
    np.testing.assert_array_equal(pt.resume(tmp_path / "run.partita").labels, whole.labels)


@pytest.mark.parametrize("name", LONG_STEPS)
def test_ctrl_c_ends_the_whole_call(name):
    """Not one of its steps: KeyboardInterrupt, within a second of the processor's time, and nothing else is said."""
    out = run_child(
        PRELUDE
        + f"""
call = {LONG_STEPS[name]}
warnings.simplefilter("ignore", pt.MixingWarning)
pressed = []

def press(number, frame):
    pressed.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGALRM, press)
before = threads()
signal.setitimer(signal.ITIMER_REAL, 1.0)
try:
    call()
    print("returned")
except KeyboardInterrupt:
    took = time.process_time() - pressed[0]
    print("within a second:", took < 1.0 or took, "threads left:", threads() - before)
"""
    )
    assert out == "within a second: True threads left: 0\n"


def test_ctrl_c_then_sigterm_ends_the_process():
    """The second signal is Python's own as soon as the first has ended the work."""
    run_child(
        PRELUDE
        + f"""
call = {CALLS["search"]}
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
def both(number, frame):
    os.kill(os.getpid(), signal.SIGTERM)
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, both)
signal.setitimer(signal.ITIMER_REAL, 0.5)
call()
time.sleep(60)
""",
        code=7,
    )


class Refused(Exception):
    pass


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("method", ["search", "salso", "greedy"])
def test_the_exception_of_a_progress_function(method, n_jobs):
    """The other threads end their runs too: without that this would take hours."""
    sample = pt.as_sample(pt.datasets.make_draws(2000, 300, 20, rng=1))

    def progress(loss, clusters):
        raise Refused("no more")

    with pytest.raises(Refused, match="no more"):
        pt.estimate(sample, "nvi", method, pt.Search(runs=10_000, n_jobs=n_jobs, progress=progress), rng=1)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("method", ["search", "salso", "greedy", "enumerate", "draws"])
@pytest.mark.parametrize("calls", [0, 10])
def test_the_exception_of_a_loss_of_the_user(method, n_jobs, calls):
    """f0 fails once, at its first or a later call, on whichever thread: that ends the call."""
    left = iter(())

    def f0(joint, estimate, draw):
        if next(left, None) == calls:
            raise Refused("no more")
        return np.asarray(estimate) + draw - 2 * np.asarray(joint)

    square = np.square(np.arange(11.0))
    loss = pt.CustomLoss(square, square, square, f0)
    draws = pt.datasets.make_draws(10, 40, 3, rng=1)
    left = iter(range(10**9))
    with pytest.raises(Refused, match="no more"):
        pt.estimate(draws, loss, method, pt.Search(runs=16, n_jobs=n_jobs), rng=1)


def test_the_exception_of_a_progress_line_ends_the_chains(monkeypatch):
    """The terminal may go away while chains run."""
    from contextlib import contextmanager

    from partita.models.chains import sampling

    @contextmanager
    def broken(plan, wanted):
        def report(jobs):
            raise Refused("no terminal")

        yield report

    monkeypatch.setattr(sampling, "reporter", broken)
    with pytest.raises(Refused, match="no terminal"):
        pt.models.GaussianDPM().sample(np.zeros((50, 1)) + np.arange(50)[:, None], draws=10**7, chains=2, rng=1)
