"""Signals to the command: each is answered, at whatever instruction it comes, and nothing is left behind."""

import runpy
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from partita.cli import app
from support import forks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")

#: The exit codes: by the command, or by the system for a signal that came before or after it was at work.
CODES = {signal.SIGTERM: (143, -15), signal.SIGINT: (130, -2)}
SIGNALS = pytest.mark.parametrize("number", CODES, ids=lambda number: signal.Signals(number).name)
CALLS = 24

#: Sends a signal at a call of a Python function, after so many or at the first that has this name.
SEND = """
import signal, sys

def send_at(calls=0, name=None, number=signal.{signal}):
    left = [calls]
    def count(frame, event, arg):
        if name is None or frame.f_code.co_name == name:
            left[0] -= 1
            if left[0] <= 0:
                sys.setprofile(None)
                signal.raise_signal(number)
    sys.setprofile(count)
"""
#: What a command does at its first step, in place of reading the draws at once.
FIRST = """
import partita.cli.options
reading = partita.cli.options.DrawsOptions.sample

def sample(self):
    {step}
    return reading(self)

partita.cli.options.DrawsOptions.sample = sample
"""


@pytest.fixture
def draws(tmp_path):
    np.save(tmp_path / "draws.npy", np.random.default_rng(1).integers(0, 3, (20, 12)))
    return tmp_path / "draws.npy"


def converted(draws, before, number=None, **options):
    """`partita convert`, after this code, in a child; it must have ended by the signal and left nothing."""
    done = forks.run(before + forks.COMMAND, "convert", draws, "--out", draws.with_name("new.csv"), **options)
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr
    if number is not None:
        assert done.returncode in CODES[number], done.stderr
        assert [path.name for path in draws.parent.iterdir()] == ["draws.npy"]
    return done


def code_of(number, step):
    return SEND.format(signal=number.name) + FIRST.format(step=step)


@SIGNALS
def test_in_the_callback_that_importlib_runs_after_an_import(draws, tmp_path_factory, number):
    """Python prints what is raised there as "Exception ignored in" and goes on."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "fresh.py").write_text("", encoding="utf-8")
    step = f"sys.path.insert(0, {str(folder)!r}); send_at(name='cb'); import fresh"
    converted(draws, code_of(number, step), number)


@SIGNALS
def test_in_a_finalizer(draws, number):
    step = f"type('Held', (), {{'__del__': lambda self: signal.raise_signal({number:d})}})()"
    converted(draws, code_of(number, step), number)


@pytest.mark.parametrize("answer", ["pass", "raise TypeError('cannot compare') from None"])
def test_termination_that_a_library_swallows(draws, answer):
    step = f"""
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        {answer}"""
    converted(draws, code_of(signal.SIGTERM, step), signal.SIGTERM)


@pytest.mark.parametrize("error", ["TypeError('cannot compare')", "ImportError('initialization failed')"])
def test_ctrl_c_that_a_library_replaces(draws, error):
    step = f"""
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        raise {error} from None"""
    converted(draws, code_of(signal.SIGINT, step), signal.SIGINT)


def test_at_calls_over_the_whole_command(draws):
    """Finely spaced over everything that the command calls; tools/send_signals.py sends real ones to all commands."""
    counting = "import sys\ncalls = [0]\nsys.setprofile(lambda *_: calls.__setitem__(0, calls[0] + 1))\n"
    telling = "import atexit; atexit.register(lambda: print('calls', calls[0]))\n"
    total = int(converted(draws, counting + telling).stdout.split()[-1])
    draws.with_name("new.csv").unlink()
    for i in range(CALLS):
        number = (signal.SIGTERM, signal.SIGINT)[i % 2]
        at = round((i + 0.5) / CALLS * total)
        done = converted(draws, SEND.format(signal=number.name) + f"send_at({at})\n")
        assert done.returncode in (*CODES[number], 0), (at, done)
        names = {path.name for path in draws.parent.iterdir()}
        assert names <= {"draws.npy", "new.csv"}, (at, names)
        assert done.returncode or "new.csv" in names
        draws.with_name("new.csv").unlink(missing_ok=True)


#: A step in C that never comes back to Python, and keeps its lock.
STUCK = "import itertools; print('stuck', flush=True); sum(itertools.repeat(0))"


def stuck(draws, seconds):
    """A command in C code; termination may stay unanswered so many seconds."""
    before = f"import partita._support.signals\npartita._support.signals.UNANSWERED = {seconds}\n" + FIRST.format(
        step=STUCK
    )
    child = forks.Talking(before + forks.COMMAND, "convert", draws, "--out", draws.with_name("new.csv"))
    assert child.stdout.readline() == "stuck\n"
    time.sleep(0.2)  # the instruction after these words
    return child


def test_termination_while_c_code_runs(draws):
    child = stuck(draws, 2)
    child.send_signal(signal.SIGTERM)
    assert child.wait(20) == 143
    assert not draws.with_name("new.csv").exists()


@SIGNALS
def test_a_second_signal_acts_at_once(draws, number):
    child = stuck(draws, 100)
    for _ in range(20):  # a busy machine may deliver two signals as one
        child.send_signal(number)
        if child.wait(0.7) is not None:
            break
    assert child.returncode == -number


def test_a_second_signal_acts_at_once_where_python_runs(draws):
    """Clean-up that hangs, for one."""
    step = """
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        print('hangs', flush=True)
        import time; time.sleep(100)"""
    words = ("convert", draws, "--out", draws.with_name("new.csv"))
    child = forks.Talking(code_of(signal.SIGTERM, step) + forks.COMMAND, *words)
    assert child.stdout.readline() == "hangs\n"
    time.sleep(0.7)
    child.send_signal(signal.SIGTERM)
    assert child.wait(20) == 143


WATCH = """
import signal, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {then}
sys.meta_path.insert(0, Watch())
"""


@SIGNALS
def test_while_the_core_is_imported(number):
    """nanobind calls Python's enum and aborts if a handler raises there."""
    code = """
import enum, signal, sys, numpy
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, frame: sys.exit(7))
def prof(frame, event, arg):
    if event == "call" and frame.f_code.co_filename == enum.__file__:
        sys.setprofile(None)
        signal.raise_signal(int(sys.argv[1]))
"""
    code += WATCH.format(module="partita._core", then="sys.setprofile(prof)") + "import partita._core"
    assert forks.command(sys.executable, "-c", code, str(int(number))).returncode == 7


@SIGNALS
def test_while_the_command_is_imported(number):
    """Nothing is there to clean up, and nothing to trace."""
    then = f"signal.raise_signal(signal.{number.name})"
    code = WATCH.format(module="typer", then=then) + "import runpy\nrunpy.run_module('partita', run_name='__main__')"
    done = forks.command(sys.executable, "-c", code)
    assert (done.returncode, done.stderr) == (128 + number, "")


@SIGNALS
def test_while_python_shuts_down(number):
    """No instruction of Python follows that could run a handler."""
    code = (
        "import atexit, ctypes, sys\natexit.register(ctypes.CDLL(None)['raise'], int(sys.argv.pop()))\n"
        "from partita.__main__ import main\nsys.argv[1:] = ['--version']\nmain()"
    )
    assert forks.command(sys.executable, "-c", code, str(int(number))).returncode == -number


def test_every_command_gets_signals():
    tools = Path(__file__).parents[2] / "tools"
    script = runpy.run_path(str(tools / "send_signals.py"))
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    commands = {command.name for command in app.registered_commands}
    commands |= {f"{name} {command.name}" for name, group in groups.items() for command in group.registered_commands}
    assert commands <= script["COMMANDS"].keys()


@pytest.mark.slow
def test_every_command_that_gets_signals_runs(tmp_path):
    script = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "send_signals.py"))
    (tmp_path / "inputs").mkdir()
    script["write_inputs"](tmp_path / "inputs")
    for words in script["COMMANDS"].values():
        assert script["seconds_of"](words, tmp_path) > 0
