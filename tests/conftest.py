"""Settings and fixtures that all tests share."""

import contextlib
import os
import signal
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import settings

import partita
from support import forks

# Machines are shared and slow at times: an example may take as long as it needs, and there are not too many.
settings.register_profile("partita", deadline=None, max_examples=40)
settings.load_profile("partita")

# A job in the background starts with Ctrl-C ignored, and so do its children; tests of Ctrl-C need the usual answer.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("MPLBACKEND", "Agg")  # figures are drawn without a screen
os.environ[forks.MARK] = str(os.getpid())


def pytest_configure(config):
    """The first import of ArviZ on a day writes a file, in which the processes of pytest-xdist would meet."""
    if not hasattr(config, "workerinput"):
        with contextlib.suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import arviz  # noqa: F401


@pytest.fixture(scope="session", autouse=True)
def no_process_is_left():
    """A process that outlives the tests is a defect of the suite: it slows the others down, or meets the next test."""
    yield
    left = forks.left_over() if sys.platform == "linux" else {}
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "processes of the tests that were still running"


@pytest.fixture(autouse=True)
def children():
    """Ends the processes that a test has started by `forks`, whatever happened to it."""
    yield
    forks.end_all()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of papers, data and reference draws beside the repository; absent on a user's machine."""
    folder = Path(__file__).parents[1].parent / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder is not beside the repository")
    return folder


@pytest.fixture(scope="session")
def draws():
    """Draws for the tests of the command; modules that need others have their own."""
    return partita.datasets.make_draws(30, 300, n_clusters=4, rng=3)


@pytest.fixture(scope="session")
def draws_file(tmp_path_factory, draws):
    path = tmp_path_factory.mktemp("draws") / "draws.csv"
    partita.write_draws(path, draws)
    return path
