"""SIGTERM and Ctrl-C to every command, finely spaced from its first instant to its last: what became of them?

`python tools/send_signals.py 1000 [command ...]` sends so many signals in all, to two processes at a time. It
prints one line per command, and ends with 1 if a signal was lost, an exit code wrong, an answer late or something left
behind. A signal that comes before partita's first instruction is answered by Python: by a traceback, if it is Ctrl-C.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import numpy as np

import partita as pt
from partita.cli.monitor import NOT_SETTLED

DRAWS, TABLE, EDGES, BASE, LABELS = "draws.csv", "table.csv", "edges.csv", "base.csv", "labels.csv"
VISITS, PAIRS, NEW_PAIRS, OUTSIDE = "visits.csv", "pairs.csv", "new_pairs.csv", "outside.csv"
LINKED, FOUND = "linked", "found"
INPUTS = (DRAWS, TABLE, EDGES, BASE, LABELS, VISITS, PAIRS, NEW_PAIRS, OUTSIDE, LINKED, FOUND)
COMMANDS = {
    "estimate": f"estimate {DRAWS} --out new --seed 1",
    "estimate --json": f"estimate {DRAWS} --json --seed 1",
    "ball": f"ball {DRAWS} --seed 1",
    "similarity": f"similarity {DRAWS} --out new.csv --figure new.png",
    "compare": f"compare {LABELS} {LABELS} --draws {DRAWS}",
    "compare-posteriors": f"compare-posteriors {DRAWS} {DRAWS} --seed 1",
    "partial": f"partial {DRAWS} --seed 1",
    "hierarchy": f"hierarchy {DRAWS} --newick new.nwk --seed 1",
    "relate": f"relate {FOUND} {OUTSIDE} --outcome y",
    "monitor": f"monitor {DRAWS} --once --seed 1",
    "cluster": f"cluster {TABLE} --out new --seed 1",
    "cluster --id": f"cluster {VISITS} --id patient --time month --draws 200 --warmup 100 --out new --seed 1",
    "link": f"link {PAIRS} --out new",
    "link --previous": f"link {NEW_PAIRS} --previous {LINKED} --out new",
    "blockmodel": f"blockmodel {EDGES} --undirected --out new --seed 1",
    "ensemble": f"ensemble {BASE} --out new",
    "stability": f"stability {TABLE} --clusterer kmeans -k 3 --runs 20 --out new --seed 1",
    "sample dpm": f"sample dpm {TABLE} --draws 200 --warmup 100 --out new --seed 1",
    "sample mixture": f"sample mixture {TABLE} --draws 200 --warmup 100 --out new --seed 1",
    "sample sbm": f"sample sbm {EDGES} --undirected --draws 200 --warmup 100 --out new --seed 1",
    "sample lbm": f"sample lbm {BASE} --counts --draws 200 --warmup 100 --out new --seed 1",
    "report": f"report {DRAWS} --out new.html --seed 1",
    "convert": f"convert {DRAWS} --out new.csv",
    "convert to zarr": f"convert {DRAWS} --out new.zarr",
    "demo": "demo --out new --draws 100",
}
PARTITA = (sys.executable, "-m", "partita")
DONE = (0, NOT_SETTLED)
LATE = 1.5  # seconds of a processor until the process has ended
PATIENCE = 60  # seconds
PF_EXITING = 0x4  # of the kernel's flags of a process
WRONG = ("lost", "wrong code", "ignored", "traceback", "late", "left behind")


def write_inputs(folder: Path) -> None:
    rng = np.random.default_rng(1)
    draws = pt.datasets.make_draws(40, 200, 4, rng=1)
    pt.write_draws(folder / DRAWS, draws)
    pt.write_labels(folder / LABELS, draws[0])
    rows = rng.normal(size=(60, 3)) + 4 * (np.arange(60) % 3)[:, None]
    np.savetxt(folder / TABLE, rows, delimiter=",", header="a,b,c", comments="", fmt="%.3f")
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 40, (150, 2)).tolist() if pair[0] != pair[1]}
    np.savetxt(folder / EDGES, sorted(pairs), delimiter=",", header="from,to", comments="", fmt="%d")
    np.savetxt(folder / BASE, draws[:6].T, delimiter=",", header="a,b,c,d,e,f", comments="", fmt="%d")
    visits = [(i, month, i % 3 * month + rng.normal()) for i in range(30) for month in range(6)]
    np.savetxt(folder / VISITS, visits, delimiter=",", header="patient,month,weight", comments="", fmt="%.3f")
    np.savetxt(folder / OUTSIDE, rng.normal(size=40), header="y", comments="", fmt="%.3f")
    for name, some in ((PAIRS, sorted(pairs)[::2]), (NEW_PAIRS, sorted(pairs)[1::2])):
        likely = np.column_stack([some, rng.random(len(some))])
        np.savetxt(folder / name, likely, delimiter=",", header="left,right,probability", comments="", fmt="%.6g")
    for words in (f"link {PAIRS} --out {LINKED}", f"estimate {DRAWS} --out {FOUND} --seed 1"):
        subprocess.run([*PARTITA, *words.split(), "-q"], cwd=folder, check=True, capture_output=True)


def begin(words: str, folder: Path) -> subprocess.Popen[str]:
    def heed_ctrl_c() -> None:  # a job in the background starts deaf to it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    write_inputs_of(folder)
    command = [*PARTITA, *words.split()]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.Popen(command, cwd=folder, preexec_fn=heed_ctrl_c, **pipes)


def write_inputs_of(folder: Path) -> None:
    for name in INPUTS:
        (folder / name).symlink_to(folder.parent / "inputs" / name)


def seconds_of(words: str, place: Path) -> float:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        started = time.monotonic()
        process = begin(words, Path(folder))
        error = process.communicate()[1]
        assert process.returncode in DONE, f"{words}: {error}"
        return time.monotonic() - started


def send(words: str, place: Path, after: float, number: signal.Signals) -> list[str]:
    """Starts the command, sends the signal so many seconds later, and says what became of it."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        process = begin(words, Path(folder))
        try:
            process.wait(after)
            process.communicate()
            return ["ended before"]
        except subprocess.TimeoutExpired:
            before = used = seconds_used(process.pid)
            if is_exiting(process.pid):
                process.communicate()
                return ["ended before"]
            process.send_signal(number)
        until = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < until:
            used = max(used, seconds_used(process.pid))
            time.sleep(0.02)
        process.kill()  # if it goes on
        _, error = process.communicate()
        late = used - before > LATE
        left = any(path.name.startswith(".partita-") for path in Path(folder).rglob("*"))
        found = [*judge(process.returncode, error, number), *["late"] * late, *["left behind"] * left]
    if set(found) & {*WRONG}:
        print(
            f"{words}: {number.name} after {after:.4f} s: {found}, exit code {process.returncode}\n{error}", flush=True
        )
    return found


def seconds_used(pid: int) -> float:
    fields = status(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def is_exiting(pid: int) -> bool:
    """Whether the process has ended itself, and the kernel only gives back its memory."""
    fields = status(pid)
    return not fields or bool(int(fields[6]) & PF_EXITING)


def status(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name; none if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return []


def judge(code: int, error: str, number: signal.Signals) -> list[str]:
    if "Traceback" in error or "Fatal Python error" in error:
        in_command = any(f"{os.sep}cli{os.sep}" in line or "_signals" in line for line in error.splitlines())
        return ["traceback"] if in_command else ["before partita"]
    if code in (*DONE, -signal.SIGKILL):
        return ["lost"]
    answered = ["answered"] if code in (128 + number, -number) else ["wrong code"]
    return answered + ["ignored"] * ("Exception ignored" in error)


def main() -> None:
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wanted = sys.argv[2:] or list(COMMANDS)
    numbers = cycle((signal.SIGTERM, signal.SIGINT))
    sums: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        place = Path(name)
        (place / "inputs").mkdir()
        write_inputs(place / "inputs")
        each = -(-total // len(wanted))
        for command in wanted:
            words = COMMANDS[command]
            seconds = max(seconds_of(words, place) for _ in range(2))
            moments = [(i + 0.5) / each * seconds for i in range(each)]
            found = pool.map(lambda after, number, words=words: send(words, place, after, number), moments, numbers)
            counts = Counter(what for one in found for what in one)
            sums += counts
            print(f"{command} ({seconds:.2f} s): {dict(counts)}", flush=True)
    print(f"all: {dict(sums)}")
    sys.exit(any(sums[what] for what in WRONG))


if __name__ == "__main__":
    main()
