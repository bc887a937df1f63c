"""Child processes that start in milliseconds: each is forked from one process that has partita imported.

A fresh interpreter takes most of a second to import NumPy, SciPy and partita, and hundreds of tests need a process of
their own: for its pipes, exit code, signals, limits, or because it may crash. What happens while modules are imported,
and what depends on the environment in which Python starts, needs a real interpreter: `start` and `command`.

Whatever happens to a test, the fixture `children` of conftest.py ends what it has started here (`end_all`).
"""

import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

#: What the parent of all children imports: all of partita that commands and models load when they are called.
SERVER = """
import sys
sys.path[:0] = {paths!r}
import partita, partita.cli, partita.models, partita.ensembles, partita.pages.report, partita.plots
from partita import credible_ball, diagnostics, estimate, partial_clustering, similarity
import scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.special, scipy.stats
import gc; gc.freeze()  # nothing of this is copied for a look at it
from support.forks import serve
exec(serve({socket}), {{"__name__": "__main__"}})
"""
#: The partita command in a child.
COMMAND = "from partita.cli import main\nmain()"
STARTING = threading.Lock()
#: What tells the processes of this one, and theirs, from others; in the environment of each.
MARK = "PARTITA_TESTS_OF"
_running = []


class Child:
    """A child that runs: what `subprocess.Popen` has and the tests use."""

    def __init__(self, code, words, *, stdin, stdout, stderr, cwd=None, env=None):
        request = {
            "code": code,
            "argv": ["partita", *map(str, words)],
            "cwd": os.fspath(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
        }
        self._ended, told = os.pipe()
        with tempfile.TemporaryFile() as body:  # too long for a datagram
            body.write(json.dumps(request).encode())
            body.seek(0)
            passed = [body.fileno(), told, *(end.fileno() for end in (stdin, stdout, stderr))]
            with STARTING:
                socket.send_fds(_server()[0], [b"!"], passed)
        os.close(told)
        self.args, self.returncode = request["argv"], None
        self.pid = int(_read_line(self._ended))
        _running.append(self)

    def poll(self):
        return self.wait(0)

    def wait(self, timeout=None):
        """The exit code, negative for a signal; None if it is still running after `timeout` seconds."""
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            self.returncode = int(_read_line(self._ended))
            os.close(self._ended)
        return self.returncode

    def send_signal(self, number):
        """Like that of `subprocess.Popen`: nothing happens if the process ends in between."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def end(self):
        self.kill()
        self.wait()


class Talking(Child):
    """A child with pipes to its standard input and from its standard output."""

    def __init__(self, code, *words, **options):
        theirs, ours = os.pipe()
        self.stdin = os.fdopen(ours, "w", encoding="utf-8")
        self.stdout, said = os.fdopen((pipe := os.pipe())[0], encoding="utf-8"), os.fdopen(pipe[1], "wb")
        with os.fdopen(theirs, "rb") as reading, said:
            super().__init__(code, words, stdin=reading, stdout=said, stderr=sys.__stderr__, **options)

    def communicate(self, timeout=None):
        """Closes its input; returns what it says until it ends, and None."""
        self.stdin.close()
        with self.stdout:
            said = self.stdout.read()
        if self.wait(timeout) is None:
            self.kill()
            raise subprocess.TimeoutExpired(self.args, timeout)
        return said, None

    def end(self):
        super().end()
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.stdout.close()


def run(code, *words, stdin=None, timeout=120, **options):
    """Runs Python code in a child until it ends, as `subprocess.run` with captured text."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as told,
    ):
        given.write(stdin or "")
        given.seek(0)
        child = Child(code, words, stdin=given, stdout=said, stderr=told, **options)
        if child.wait(timeout) is None:
            child.kill()
            raise subprocess.TimeoutExpired(child.args, timeout)
        texts = [(file.seek(0), file.read().decode())[1] for file in (said, told)]
        return subprocess.CompletedProcess(child.args, child.returncode, *texts)


class Started(subprocess.Popen):
    """A program with a process group of its own, which ends as a whole."""

    def __init__(self, words, **options):
        super().__init__(list(map(os.fspath, words)), start_new_session=True, **options)
        _running.append(self)

    def end(self):
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()


def start(*words, **options):
    """A program that runs, as `subprocess.Popen`; its output and errors are pipes of text unless told otherwise."""
    return Started(words, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", **options})


def command(*words, timeout=120, **options):
    """Runs a program until it ends, as `subprocess.run` with captured text; what it has started ends with it."""
    program = start(*words, **options)
    try:
        said, told = program.communicate(timeout=timeout)
    finally:
        program.end()
    return subprocess.CompletedProcess(program.args, program.returncode, said, told)


def end_all():
    """Ends what was started and still runs."""
    while _running:
        _running.pop().end()


def left_over(patience=2.0):
    """Words of the processes that this one and its children have started and that run on, after some seconds."""
    _server_ends()
    until = time.monotonic() + patience
    while (left := _own_processes()) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _own_processes():
    """Children, and what has the mark in its environment; the helper of multiprocessing ends with this process."""
    mark, found = f"{MARK}={os.getpid()}".encode(), {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            is_ours = int(parent) == os.getpid() or mark in (entry / "environ").read_bytes().split(b"\0")
            if is_ours and state != "Z" and int(entry.name) != os.getpid() and "resource_tracker" not in words:
                found[int(entry.name)] = words[:200]
    return found


def _server_ends():
    if _server.cache_info().currsize:
        _server()[1]()
        _server.cache_clear()


@functools.cache
def _server():
    """The socket of the process that all children of this one come from, and what ends it."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    code = SERVER.format(paths=[os.fspath(Path(__file__).parents[1])], socket=there.fileno())
    # Threads do not survive a fork.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", MARK: str(os.getpid())}
    process = subprocess.Popen([sys.executable, "-c", code], pass_fds=[there.fileno()], env=environment)
    there.close()

    @atexit.register
    def end():
        here.close()  # the server ends with its socket
        process.wait()

    return here, end


def _read_line(descriptor):
    line = b""
    while not line.endswith(b"\n"):
        read = os.read(descriptor, 1)
        if not read:
            raise RuntimeError("the server of child processes has ended")
        line += read
    return line


def serve(descriptor):
    """The loop of the server. In a child it returns the code to run, with everything as the request has it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the watchers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = socket.socket(fileno=descriptor)
    while True:
        message, descriptors, _, _ = socket.recv_fds(server, 1, 5)
        if not message:
            sys.exit()
        if os.fork() == 0:
            server.close()
            return _watched(*descriptors)
        for one in descriptors:
            os.close(one)


def _watched(body, told, *streams):
    """Forks the child; the watcher tells its process id and, when it ends, its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        for one in (body, *streams):
            os.close(one)
        os.write(told, f"{child}\n".encode())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(told, f"{code}\n".encode())
        os._exit(0)
    os.close(told)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with os.fdopen(body) as file:
        file.seek(0)
        request = json.load(file)
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv[:] = request["argv"]
    return request["code"]
