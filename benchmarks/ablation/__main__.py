"""What each ingredient of the default searches is worth: it is left out, or a constant is changed, and the rest stays.

`python -m benchmarks.ablation` makes every variation in a process of its own, on the build of `build.py`.
benchmarks/results/ablation.csv has one row for each problem and variation: how many seeds reach the least value that
any variation found, the mean excess, CPU seconds and counted steps divided by those of the default. `--only NAME ...`
makes some again, `--policy NAME "..."` one that is not listed, `--kind networks` those of block models. A variation
that changes nothing on a problem is not measured there.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.ablation.build import ROOT, build, use_the_build
from benchmarks.ablation.problems import PROBLEMS
from benchmarks.ablation.variations import VARIATIONS
from benchmarks.record import read_runs, write_result, write_runs

KEYS = ("kind", "variation", "problem", "seed", "value", "seconds", "steps")


def measure(kind: str, variation: str, wanted: str, seconds: float) -> None:
    """Prints rows of all problems, as CSV: this many CPU seconds of each by default, two to twelve seeds."""
    use_the_build()
    from partita import _core

    counts = defaultdict(int)
    for row in read_runs("ablation"):
        counts[row["kind"], row["problem"]] += row["variation"] == "default"
    for problem, fit in PROBLEMS[kind]():
        if not re.search(wanted, problem):
            continue
        count = 12 if variation == "default" else counts[kind, problem]
        for seed in range(count):
            begun, counted = time.process_time(), _core.counted_steps()
            value = fit(seed)
            spent, steps = time.process_time() - begun, _core.counted_steps() - counted
            print(f'{kind},{variation},"{problem}",{seed},{value!r},{spent:.4f},{steps}', flush=True)
            if variation == "default" and seed >= 1 and spent * (seed + 2) > seconds:
                break


def run(kind: str, variation: str, policy: str, wanted: str, seconds: float) -> None:
    """A variation in a process of its own; its rows replace those that are there."""
    command = [sys.executable, "-m", "benchmarks.ablation", "--child", variation, "--kind", kind]
    command += ["--problems", wanted, "--seconds", str(seconds)]
    environment = os.environ | {"PARTITA_POLICY": policy, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, cwd=ROOT)
    rows = [row for row in read_runs("ablation") if (row["kind"], row["variation"]) != (kind, variation)]
    write_runs("ablation", [*rows, *csv.DictReader(io.StringIO(done.stdout), KEYS)])


def summaries() -> list[dict[str, Any]]:
    """A row for each problem and variation; the least value is that of all variations."""
    cells: dict[tuple[str, str, str], list[list[float]]] = defaultdict(list)
    least: dict[str, float] = defaultdict(lambda: np.inf)
    for one in read_runs("ablation"):
        found = [float(one[figure]) for figure in KEYS[4:]]
        cells[one["kind"], one["variation"], one["problem"]].append(found)
        least[one["problem"]] = min(least[one["problem"]], found[0])
    rows = []
    for (kind, variation, problem), fits in cells.items():
        values, seconds, steps = np.array(fits).T
        _, usual_seconds, usual_steps = np.array(cells[kind, "default", problem]).T
        excess = (values - least[problem]) / abs(least[problem])
        rows.append({"kind": kind, "variation": variation, "problem": problem, "seeds": len(values),
                     "at_best": int((excess <= 1e-9).sum()), "excess": float(f"{excess.mean():.2e}"),
                     "seconds": round(seconds.mean(), 4), "time_ratio": round(seconds.mean() / usual_seconds.mean(), 3),
                     "steps_ratio": round(steps.mean() / usual_steps.mean(), 3)})  # fmt: skip
    return rows


def print_table(rows: list[dict[str, Any]]) -> None:
    """Each variation beside the default on the same problems; geometric means of time and counted steps."""
    default = {(row["kind"], row["problem"]): row for row in rows if row["variation"] == "default"}
    print("| variation | fits | at the best | by default | excess | by default | time | steps | least | most |")
    for kind, variation in dict.fromkeys((row["kind"], row["variation"]) for row in rows):
        own = [row for row in rows if (row["kind"], row["variation"]) == (kind, variation)]
        beside = [default[kind, row["problem"]] for row in own]
        time_, steps = (np.array([row[name] for row in own]) for name in ("time_ratio", "steps_ratio"))
        means = [np.exp(np.log(ratios).mean()) for ratios in (time_, steps)]
        ratios = " | ".join(f"{ratio:.2f}" for ratio in (*means, steps.min(), steps.max()))
        reached, usual = (sum(row["at_best"] for row in some) for some in (own, beside))
        excess, usually = (np.mean([row["excess"] for row in some]) for some in (own, beside))
        fits = sum(row["seeds"] for row in own)
        print(f"| {variation} | {fits} | {reached} | {usual} | {excess:.1e} | {usually:.1e} | {ratios} |")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=VARIATIONS, default="draws")
    parser.add_argument("--only", nargs="*", help="these variations; none: only the tables of what was measured")
    parser.add_argument("--policy", nargs=2, metavar=("NAME", "POLICY"), help="a variation that is not listed")
    parser.add_argument("--problems", default="", help="those whose names contain this regular expression")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each problem by default, about")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        measure(options.kind, options.child, options.problems, options.seconds)
        return
    build()
    table = VARIATIONS[options.kind]
    names = list(table) if options.only is None and options.policy is None else options.only or []
    chosen = {name: table[name] for name in names}
    if options.policy:
        chosen[options.policy[0]] = (options.policy[1], options.problems)
    for name, (policy, wanted) in chosen.items():
        run(options.kind, name, policy, wanted, options.seconds)
    rows = summaries()
    write_result("ablation", rows, note="at_best: seeds at the least value of all variations; CPU seconds")
    print_table(rows)


if __name__ == "__main__":
    main()
