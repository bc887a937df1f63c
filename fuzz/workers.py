"""Cases in child processes: a crash costs one case, and a watchdog ends what hangs."""

from __future__ import annotations

import faulthandler
import json
import os
import re
import resource
import selectors
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.execution import Outcome, run_script

#: A script by the number of its case.
WriteScript = Callable[[int], tuple[str, str]]  # target, script
MEMORY = 6 << 30  # of a child that no sanitizer watches: sanitizers reserve far more than they use
PATIENCE = 10
#: What NumPy and SciPy say where a number went wrong; partita's own warnings are answers.
NUMERICAL_WARNINGS = r".*(encountered in|empty slice|Degrees of freedom|All-NaN|Precision loss)"


@dataclass(frozen=True)
class Result:
    """One case that was run."""

    index: int
    target: str
    outcome: Outcome
    seconds: float = 0.0


@dataclass
class _Child:
    pid: int
    pipe: int
    errors: int
    todo: range
    at: int | None = None
    target: str = ""
    since: float = field(default_factory=time.monotonic)
    worked: float = 0.0  # processor seconds when the case began
    buffer: bytes = b""


class Pool:
    """Runs cases in `jobs` children at a time, each for a batch; `seconds` is what one case may take.

    These are seconds of a processor, so that a busy machine is no finding; a case that sleeps has `PATIENCE` times as
    many on the clock.
    """

    def __init__(self, write: WriteScript, jobs: int, batch: int, seconds: float) -> None:
        self._write, self._jobs, self._batch, self._seconds = write, jobs, batch, seconds
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()

    def run(self, first: int, count: int, until: float = float("inf")) -> Iterator[Result]:
        """The results of cases first, first + 1, ..., in no order; no new batch begins after `until`."""
        batches = iter(range(first, first + count, self._batch))
        waiting: list[range] = []
        more = True
        while more or waiting or self._children:
            while len(self._children) < self._jobs and (waiting or more):
                if not waiting:
                    start = next(batches, None) if time.monotonic() < until else None
                    if start is None:
                        more = False
                        break
                    waiting.append(range(start, min(start + self._batch, first + count)))
                self._start(waiting.pop())
            yield from self._listen(waiting)

    def _listen(self, waiting: list[range]) -> Iterator[Result]:
        for key, _ in self._selector.select(0.2):
            child = self._children[key.fd]
            data = os.read(child.pipe, 1 << 16)
            yield from self._heard(child, data)
            if not data:
                yield from self._ended(child, waiting, "")
        for child in list(self._children.values()):
            if child.at is not None and _is_stuck(child, self._seconds):
                os.kill(child.pid, signal.SIGKILL)
                yield from self._ended(child, waiting, "timeout")

    def _heard(self, child: _Child, data: bytes) -> Iterator[Result]:
        *lines, child.buffer = (child.buffer + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "begin" in said:
                child.at, child.target = said["begin"], said["target"]
                child.since, child.worked = time.monotonic(), said["worked"]
            else:
                yield Result(said["end"], child.target, Outcome(*said["outcome"]), said["seconds"])
                child.at = None

    def _ended(self, child: _Child, waiting: list[range], reason: str) -> Iterator[Result]:
        self._selector.unregister(child.pipe)
        del self._children[child.pipe]
        _, status = os.waitpid(child.pid, 0)
        report = os.pread(child.errors, 1 << 20, 0).decode(errors="replace")
        os.close(child.pipe)
        os.close(child.errors)
        if child.at is not None:
            outcome = Outcome("timeout", f"timeout of {child.target}") if reason else crash(status, report)
            yield Result(child.at, child.target, outcome)
            if child.at + 1 < child.todo.stop:
                waiting.append(range(child.at + 1, child.todo.stop))
        elif not os.WIFEXITED(status) or os.WEXITSTATUS(status):
            yield Result(child.todo.start, "the child itself", crash(status, report))

    def _start(self, todo: range) -> None:
        ear, mouth = os.pipe()
        errors = os.memfd_create("errors")
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.close(ear)
            code = 1
            try:
                _work(self._write, todo, mouth, errors)
                code = 0
            finally:
                os._exit(code)
        os.close(mouth)
        self._children[ear] = _Child(pid, ear, errors, todo)
        self._selector.register(ear, selectors.EVENT_READ)


def _is_stuck(child: _Child, seconds: float) -> bool:
    waited = time.monotonic() - child.since
    return waited > seconds and (waited > PATIENCE * seconds or _processor_seconds(child.pid) - child.worked > seconds)


def _processor_seconds(pid: int) -> float:
    """What all threads of a process have used, as Linux tells it."""
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def _work(write: WriteScript, todo: range, mouth: int, errors: int) -> None:
    """What a child does: nothing that a case prints is heard, and what NumPy warns of is an error."""
    faulthandler.disable()  # pytest's would print the death of a child that is meant to die
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.dup2(errors, 2)
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", NUMERICAL_WARNINGS, RuntimeWarning)
    for index in todo:
        target, script = write(index)
        started = time.process_time()
        _say(mouth, {"begin": index, "target": target, "worked": started})
        outcome = run_script(script)
        said = [outcome.kind, outcome.signature, outcome.detail]
        _say(mouth, {"end": index, "outcome": said, "seconds": time.process_time() - started})


def _say(mouth: int, what: dict[str, Any]) -> None:
    os.write(mouth, json.dumps(what).encode() + b"\n")


def crash(status: int, report: str) -> Outcome:
    """What a dead child tells: the signal, or the first line and place of a sanitizer's report."""
    how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    lines = report.splitlines()
    telling = ("runtime error", "ERROR: AddressSanitizer", "terminate called", "failed to allocate")
    said = next((line for line in lines if any(words in line for words in telling)), "")
    said = re.sub(r"^==\d+==|0x[0-9a-f]+", "", said)
    frames = [
        line.split(" in ", 1)[1]
        for line in lines
        if line.lstrip().startswith("#") and "/cpp/" in line and " in " in line
    ]
    place = frames[0].rsplit("/", 1)[-1] if frames else said.rpartition("/")[2]
    return Outcome("crash", f"crash: {how} {place[:80]}", f"{said}\n" + "\n".join(frames[:6]))
