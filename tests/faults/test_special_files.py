"""What is no file is never replaced by one: devices, pipes and sockets, and links to them."""

import os
import socket
import stat
import sys

import pytest

import partita as pt
from support import forks
from support.commands import one_sentence

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of Unix")

DRAWS = [[0, 0, 1], [0, 1, 1], [0, 0, 1]]


def make_device(path):
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device can be made here")


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        before = os.getcwd()
        os.chdir(path.parent)  # the path of a socket may have no more than 107 characters
        try:
            server.bind(path.name)
        finally:
            os.chdir(before)


KINDS = {
    "pipe": (os.mkfifo, "a pipe"),
    "socket": (make_socket, "a socket"),
    "device": (make_device, "a device"),
    "link to a device": (lambda path: path.symlink_to("/dev/null"), "a device"),
}
WRITERS = {
    "out.csv": lambda path: pt.write_labels(path, [0, 0, 1]),
    "out.npz": lambda path: pt.write_draws(path, DRAWS),
    "out.html": lambda path: pt.report(pt.estimate(DRAWS, rng=1), path=path),
}
COMMANDS = {
    "convert": ("convert", "draws.npy", "--out", "out.csv", "--force"),
    "report": ("report", "draws.npy", "--out", "out", "--force", "--runs", "1"),
    "similarity": ("similarity", "draws.npy", "--out", "out.csv", "--force"),
    "hierarchy": ("hierarchy", "draws.npy", "--newick", "out.csv", "--force"),
    "estimate": ("estimate", "draws.npy", "--out", "out.csv", "--force", "--runs", "1"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRITERS)
def test_functions(tmp_path, name, kind):
    make, what = KINDS[kind]
    path = tmp_path / name
    make(path)
    before = path.lstat()
    with pytest.raises(ValueError, match=f"it is {what}, which is not replaced by a file"):
        WRITERS[name](path)
    assert (path.lstat().st_mode, path.lstat().st_ino) == (before.st_mode, before.st_ino)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(tmp_path, command):
    pt.write_draws(tmp_path / "draws.npy", DRAWS)
    path = tmp_path / COMMANDS[command][3]
    os.mkfifo(path)
    done = forks.run(forks.COMMAND, *COMMANDS[command], cwd=tmp_path)
    assert done.returncode == 2
    why = "is not a folder" if command == "estimate" else "it is a pipe, which is not replaced by a file"
    assert why in one_sentence(done.stderr)
    assert path.is_fifo()


# ---- standard streams

CLOSED = {
    "output": "os.close(1); sys.stdout = None",
    "errors": "os.close(2); sys.stderr = None",
    "both": "os.close(1); os.close(2); sys.stdout = sys.stderr = None",
    "all": "os.close(0); os.close(1); os.close(2); sys.stdin = sys.stdout = sys.stderr = None",
}


@pytest.mark.parametrize("closed", CLOSED)
def test_a_command_without_standard_streams(tmp_path, closed):
    """As in cron jobs, or after >&-: results are written, and nothing that is printed ends up in them."""
    pt.write_draws(tmp_path / "draws.npy", DRAWS)
    words = ("estimate", "draws.npy", "--out", "new", "--runs", "1", "--seed", "1")
    done = forks.run(f"import os, sys\n{CLOSED[closed]}\n" + forks.COMMAND, *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "new" / "labels.csv").read_text(encoding="utf-8").startswith("item,cluster,")
    done = forks.run(f"import os, sys\n{CLOSED[closed]}\n" + forks.COMMAND, "ball", "draws.npy", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_behind_standard_output_is_named(tmp_path):
    pt.write_draws(tmp_path / "draws.npy", DRAWS)
    full = "import os\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n"
    done = forks.run(full + forks.COMMAND, "estimate", "draws.npy", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert one_sentence(done.stderr) == "partita: standard output: No space left on device"
