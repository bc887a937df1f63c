"""The default search against the peers' best losses and, where R has it, against `salso` in the same run.

`python -m benchmarks.search` prints a table and writes benchmarks/results/search.csv. Times are CPU seconds on one
thread, so that other work on the machine matters little. `--data iris,galaxy` and `--losses vi,nvi` choose pairs.
R_LIBS names the folder of a salso that is not in R's own library. `--seeds` counts how many of twelve seeds reach the
least loss and writes benchmarks/results/seeds.csv. `--defaults` sets default estimates beside default calls of `salso`.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt
from benchmarks.data import STAND_INS, reference_draws
from benchmarks.record import command, write_result

NOTE = (
    "seconds: CPU, of a default estimate; salso_seconds: of four runs of salso; our_seconds_to_it: of the least of "
    "1, 2, 4, 8, 16 runs that reach its loss, the least of four measurements; ratio: the two divided; peers_best: the "
    "least loss that any peer reached"
)
LOSSES: dict[str, pt.Loss] = {
    "vi": pt.VI(),
    "binder": pt.Binder(),
    "omari": pt.OneMinusARI(),
    "nvi": pt.NVI(),
    "id": pt.ID(),
    "nid": pt.NID(),
    "vi .5": pt.VI(0.5, 1.5),
    "vi 1.5": pt.VI(1.5, 0.5),
    "binder .5": pt.Binder(0.5, 1.5),
    "binder 1.5": pt.Binder(1.5, 0.5),
}
#: Lowest expected loss that any peer reached in any run (shared/reference/README.md, table A), in the order of LOSSES.
PEERS_BEST = {
    "iris": "1.6466470 0.31050329 0.67558599 0.66096647 1.2672333 0.55954538 1.9367875 0.99977849 0.18238969 "
    "0.26714471",
    "cls15": "2.5917799 0.10964210 0.55272493 0.56863109 1.4263098 0.42515452 2.5189978 1.6113474 0.069040600 "
    "0.12304480",
    "galaxy": "0.93937391 0.21824271 0.43729255 0.57388036 0.71662851 0.48381421 1.1777248 0.58704958 0.25857620 "
    "0.12484176",
    "gaskins_like": "1.3117076 0.075725175 0.33897085 0.34531014 0.77513867 0.24099074 1.2007096 1.2325055 0.053430888 "
    "0.086426663",
    "simce_like": "0.84075806 0.048158942 0.17438099 0.25171811 0.49761135 0.16655884 0.79792921 0.89261337 "
    "0.036354747 0.052725645",
    "large": "0.76872650 0.015559808 0.12395005 0.17290522 0.43330582 0.12267229 0.75997537 0.85824018 0.012408762 "
    "0.022373417",
}
_SALSO = """
suppressMessages(library(salso))
a <- commandArgs(TRUE)
draws <- as.matrix(read.csv(a[1], header = FALSE))
loss <- switch(a[2], vi = VI(a = as.numeric(a[3])), binder = binder(a = as.numeric(a[3])), omari = omARI(), nvi = NVI(),
               id = ID(), nid = NID())
set.seed(1)
begun <- proc.time()
found <- suppressWarnings(salso(draws, loss = loss, nRuns = as.integer(a[4]), nCores = 1))
spent <- proc.time() - begun
cat(spent[["user.self"]], found, sep = " ")
"""


@dataclass(frozen=True)
class Row:
    data: str
    loss: str
    reached: float
    clusters: int
    seconds: float
    peers_best: float
    excess: float
    salso_loss: float
    salso_seconds: float
    our_seconds_to_it: float
    ratio: float


def timed_estimate(sample: pt.PartitionSample, loss: pt.Loss, search: pt.Search) -> tuple[float, pt.Estimate]:
    """CPU seconds of an estimate without the check of the draws, which peers do not make; and the estimate."""
    begun = time.process_time()
    found = pt.estimate(sample, loss, search=search, rng=1, check_draws=False)
    return time.process_time() - begun, found


def salso_of(labels: np.ndarray, name: str, loss: pt.Loss, runs: int = 4) -> tuple[float, np.ndarray] | None:
    """CPU seconds and partition of this many runs of salso, if R and salso are installed."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path, script = Path(folder) / "draws.csv", Path(folder) / "salso.R"
        np.savetxt(path, labels + 1, fmt="%d", delimiter=",")
        script.write_text(_SALSO)
        weight = str(getattr(loss, "a", 1.0))
        command = ["Rscript", str(script), str(path), name.split()[0], weight, str(runs)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        return None
    spent, *partition = answer.stdout.split()
    return float(spent), np.array([int(label) for label in partition])


def time_to(sample: pt.PartitionSample, loss: pt.Loss, target: float) -> float:
    """CPU seconds of the first of 1, 2, 4, 8, 16 runs that reaches the target; the failed ones do not count."""
    for runs in (1, 2, 4, 8, 16):
        search = pt.Search(runs=runs, n_jobs=1)
        seconds, found = timed_estimate(sample, loss, search)
        if found.expected_loss <= target * (1 + 1e-7):
            return min(seconds, *(timed_estimate(sample, loss, search)[0] for _ in range(3)))
    return float("nan")


def measure(data: str, name: str) -> Row:
    labels, loss = reference_draws(data), LOSSES[name]
    sample = pt.as_sample(labels)
    seconds, found = timed_estimate(sample, loss, pt.Search(n_jobs=1))
    peers_best = float(PEERS_BEST[data].split()[list(LOSSES).index(name)])
    rival = salso_of(sample.to_numpy().astype(np.int64), name, loss)
    salso_seconds, salso_loss, ours = float("nan"), float("nan"), float("nan")
    if rival is not None:
        salso_seconds, salso_loss = rival[0], pt.expected_loss(rival[1], sample, loss)
        ours = time_to(sample, loss, salso_loss)
    reached = found.expected_loss
    return Row(data, name, reached, found.n_clusters, seconds, peers_best, reached / peers_best - 1, salso_loss,
               salso_seconds, ours, salso_seconds / ours)  # fmt: skip


def describe(row: Row) -> str:
    verdict = "WORSE" if row.excess > 1e-7 else "below" if row.excess < -1e-7 else "equal"
    ours = f"{row.data:13}{row.loss:11}{row.reached:<12.8g}k={row.clusters:<4}{row.seconds:7.2f} s"
    peers = f"{verdict} to peers' best ({row.excess:+.1e})"
    salso = f"salso, 4 runs: {row.salso_seconds:.3f} s, ours to its loss {row.our_seconds_to_it:.4f} s"
    return f"{ours}  {peers};  {salso}, ratio {row.ratio:.1f}"


def scaling() -> None:
    """Time against items and against draws, doubled at a fixed number of clusters."""
    settings = {"salso": pt.Search(runs=1, n_jobs=1, p_sequential=1.0), "search": pt.Search(n_jobs=1)}
    sizes = {"items": [(1000 * 2**k, 100) for k in range(7)], "draws": [(2000, 100 * 2**k) for k in range(6)]}
    for method, search in settings.items():
        for what, doubled in sizes.items():
            seconds = [seconds_of(n_items, n_draws, method, search) for n_items, n_draws in doubled]
            growth = ", ".join(f"{later / earlier:.2f}" for earlier, later in itertools.pairwise(seconds))
            print(f"{method} by {what}, {doubled[0]} to {doubled[-1]}: {seconds[0]:.3f} to {seconds[-1]:.3f} CPU s; "
                  f"a doubling costs {growth} times (target 2.2)", flush=True)  # fmt: skip


def seconds_of(n_items: int, n_draws: int, method: str, search: pt.Search) -> float:
    """CPU seconds of an estimate, the least of three."""
    from partita.datasets import make_draws

    sample = pt.as_sample(make_draws(n_items, n_draws, 10, rng=1))
    times = []
    for _ in range(3):
        begun = time.process_time()
        pt.estimate(sample, "vi", method, search, rng=1)
        times.append(time.process_time() - begun)
    return min(times)


def peak_growth(n_items: int, n_draws: int, n_clusters: int, threads: int) -> tuple[int, int]:
    """Bytes that an estimate is said to take, and by how much the process grew at its peak (Linux)."""
    from partita.datasets import make_draws
    from partita.losses.problem import core_problem

    sample = pt.as_sample(make_draws(n_items, n_draws, n_clusters, rng=1))
    widest = int(sample.n_clusters.max())
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = memory_of_this_process("VmRSS")
    pt.estimate(sample, "vi", search=pt.Search(n_jobs=threads), rng=1)
    problem = core_problem(sample, pt.VI())
    return int(problem.bytes_needed(problem.state, widest, threads)), memory_of_this_process("VmHWM") - before


def memory_of_this_process(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def memory() -> None:
    """Predicted against measured memory, each case in a process of its own."""
    for size in [(20_000, 500, 40, 1), (20_000, 500, 40, 2), (5_000, 2_000, 25, 2), (100_000, 200, 30, 2)]:
        call = f"from benchmarks.search import peak_growth; print(*peak_growth{size})"
        answer = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
        predicted, measured = (int(number) / 2**20 for number in answer.stdout.split())
        problem = "{:7,} items x {:5,} draws x {} clusters, {} threads".format(*size)
        figures = f"predicted {predicted:6.0f} MiB, measured {measured:6.0f} MiB, ratio {measured / predicted:.2f}"
        print(f"{problem}: {figures}", flush=True)


def xlarge() -> None:
    """The default estimate of 20,000 items x 500 draws x 40 clusters on two threads."""
    from partita.datasets import make_draws

    sample = pt.as_sample(make_draws(20_000, 500, 40, rng=1))
    begun, used = time.perf_counter(), time.process_time()
    found = pt.estimate(sample, "vi", search=pt.Search(n_jobs=2), rng=1)
    print(f"20,000 x 500 x 40, VI: {found.expected_loss:.8f}, {found.n_clusters} clusters, "
          f"{time.perf_counter() - begun:.1f} s on two threads ({time.process_time() - used:.1f} CPU s), target 10 s; "
          f"peak of the process {memory_of_this_process('VmHWM') / 2**20:.0f} MiB")  # fmt: skip


SEEDS = range(100, 112)


def seeds(data_sets: list[str], losses: list[str]) -> None:
    """How many of twelve seeds of the default estimate reach the least loss of all of them."""
    rows = []
    for data in data_sets:
        sample = pt.as_sample(reference_draws(data))
        for name in losses:
            rows.append(seeds_of(sample, data, name))
            print("{data:13}{loss:11}{seconds:7.2f} s  best {best:.9g}, reached by {reached} of {seeds}, "
                  "others up to {excess:.1e} above".format(**rows[-1]), flush=True)  # fmt: skip
    share = sum(row["reached"] for row in rows) / sum(row["seeds"] for row in rows)
    print(f"{share:.1%} of the default estimates reach the least loss")
    write_result("seeds", rows, command=command("search"), note="CPU seconds of one default estimate on one thread")


def seeds_of(sample: pt.PartitionSample, data: str, name: str) -> dict[str, Any]:
    begun, search = time.process_time(), pt.Search(n_jobs=1)
    found = [pt.estimate(sample, LOSSES[name], search=search, rng=seed, check_draws=False) for seed in SEEDS]
    reached = np.array([best.expected_loss for best in found])
    best = reached.min()
    return {
        "data": data,
        "loss": name,
        "seeds": len(SEEDS),
        "seconds": (time.process_time() - begun) / len(SEEDS),
        "best": best,
        "reached": int((reached <= best * (1 + 1e-9)).sum()),
        "excess": reached.max() / best - 1,
    }


def defaults(data_sets: list[str], losses: list[str]) -> None:
    """What users get: `estimate(draws)` and `salso(draws)` (16 runs) as they are, one core each; needs R and salso."""
    pt.estimate(reference_draws(data_sets[0]), rng=1)  # imports and threads, once
    rows = []
    for data in data_sets:
        labels = reference_draws(data)
        for name in losses:
            begun = time.process_time()
            found = pt.estimate(labels, LOSSES[name], search=pt.Search(n_jobs=1), rng=1)
            seconds = time.process_time() - begun
            rival = salso_of(found.sample.to_numpy().astype(np.int64), name, LOSSES[name], runs=16)
            if rival is None:
                raise SystemExit("R or salso is missing: R_LIBS names the folder of salso")
            excess = found.expected_loss / pt.expected_loss(rival[1], found.sample, LOSSES[name]) - 1
            rows.append({"data": data, "loss": name, "seconds": seconds, "salso_seconds": rival[0],
                         "ratio": rival[0] / seconds, "loss_excess": excess})  # fmt: skip
            print("{data:13}{loss:11}{seconds:8.3f} s, salso {salso_seconds:8.3f} s, ratio {ratio:6.1f}, loss "
                  "{loss_excess:+.1e}".format(**rows[-1]), flush=True)  # fmt: skip
            write_result("search_defaults", rows, command=command("search"),
                         note="CPU seconds; loss_excess: our loss / salso's - 1")  # fmt: skip
    ratios = np.array([row["ratio"] for row in rows])
    print(f"geometric mean of {ratios.size} ratios {np.exp(np.log(ratios).mean()):.1f}, least {ratios.min():.1f}; "
          f"a higher loss in {sum(row['loss_excess'] > 1e-7 for row in rows)} cells")  # fmt: skip


#: what to measure instead of the table
PARTS = {"scaling": scaling, "memory": memory, "xlarge": xlarge}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=",".join(STAND_INS))
    parser.add_argument("--losses", default=",".join(LOSSES))
    for name, part in PARTS.items():
        parser.add_argument(f"--{name}", action="store_true", help=part.__doc__)
    tables = {"seeds": seeds, "defaults": defaults}
    for name, table in tables.items():
        parser.add_argument(f"--{name}", action="store_true", help=table.__doc__)
    options = parser.parse_args(arguments)
    chosen = [part for name, part in PARTS.items() if getattr(options, name)]
    for part in chosen:
        part()
    wanted = [table for name, table in tables.items() if getattr(options, name)]
    for table in wanted or ([] if chosen else [compare]):
        table(options.data.split(","), options.losses.split(","))


def compare(data_sets: list[str], losses: list[str]) -> None:
    rows = []
    for data in data_sets:
        for name in losses:
            rows.append(measure(data, name))
            print(describe(rows[-1]), flush=True)
            write_result(
                "search", (asdict(row) for row in rows), note=NOTE
            )  # after each: a stop leaves what it measured
    ratios = np.array([row.ratio for row in rows if np.isfinite(row.ratio)])
    if ratios.size:
        print(f"salso's time / ours, geometric mean of {ratios.size} pairs: {np.exp(np.log(ratios).mean()):.1f}, "
              f"least {ratios.min():.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
