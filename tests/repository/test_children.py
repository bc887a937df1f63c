"""The suite ends the processes of its tests, and fails if one is left."""

import os
import sys
from pathlib import Path

import pytest

from support import forks

TESTS = Path(__file__).parents[1]
ENDED = """
from support import forks

def test_that_fails():
    forks.start("sleep", "1000")
    forks.Talking("import time; time.sleep(1000)")
    assert False
"""
LEFT = """
import subprocess

def test_that_passes():
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def outcome(folder, text):
    """What pytest says of a file of tests, with the fixtures of this suite."""
    (folder / "test_one.py").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", "--rootdir", folder]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.fspath(TESTS), *sys.path])}
    return forks.command(*words, folder, cwd=folder, env=environment)


def test_processes_end_with_their_test(tmp_path):
    done = outcome(tmp_path, ENDED)
    assert "1 failed in" in done.stdout


def test_a_process_that_is_left_is_an_error(tmp_path):
    done = outcome(tmp_path, LEFT)
    assert done.returncode == 1
    assert "1 passed, 1 error in" in done.stdout
    assert "sleep 1000" in done.stdout
