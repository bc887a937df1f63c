"""What each ingredient of the default searches is worth: it is left out, or a constant is changed, and the rest stays.

`python -m benchmarks.ablation` makes every variation in a process of its own, on the build of `ablation_build`.
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
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.ablation_build import ROOT, build, use_the_build
from benchmarks.record import read_runs, write_result, write_runs

KEYS = ("kind", "variation", "problem", "seed", "value", "seconds", "steps")
Fit = Callable[[int], float]
#: Reference draws and losses: the hard cells, and of the easy ones a few.
REFERENCE = {
    "iris": ("vi .5", "nvi", "omari", "binder .5", "vi"),
    "galaxy": ("vi .5", "nvi", "binder"),
    "cls15": ("vi .5", "nvi", "vi", "binder", "binder .5"),
    "gaskins_like": ("vi .5", "nid", "binder .5"),
    "simce_like": ("vi", "vi 1.5", "binder"),
}


def generated() -> dict[str, tuple[NDArray[Any], dict[str, Any], tuple[str, ...]]]:
    """Draws of other shapes, settings, losses."""
    from benchmarks.many_clusters import small_clusters
    from partita.datasets import make_draws

    dependent = make_draws(120, 400, 8, doubt=0.3, rng=5)
    for row in range(1, len(dependent)):  # nine labels of ten stay
        stays = np.random.default_rng(row).random(120) < 0.9
        dependent[row, stays] = dependent[row - 1, stays]
    return {
        "limit 10": (make_draws(150, 400, 20, rng=1), {"max_clusters": 10}, ("vi .5", "nvi", "binder", "binder .5")),
        "limit 5": (make_draws(80, 2000, 12, doubt=0.2, rng=2), {"max_clusters": 5}, ("vi", "omari", "binder")),
        "noisy": (make_draws(90, 300, 8, doubt=0.6, rng=3), {}, ("vi", "vi .5", "id", "binder", "binder .5")),
        "split": (make_draws(120, 1500, 15, split=0.3, merge=0.3, rng=4), {}, ("vi", "vi .5", "nvi", "binder")),
        "dependent": (dependent, {}, ("vi", "vi .5", "omari", "binder")),
        "wide": (make_draws(1500, 200, 40, doubt=0.2, rng=6), {}, ("vi", "binder")),
        "small clusters": (small_clusters(600, 200), {}, ("vi", "binder", "nvi")),
    }


def draws_problems() -> Iterator[tuple[str, Fit]]:
    import partita as pt
    from benchmarks.data import reference_draws
    from benchmarks.search import LOSSES

    policy = dict(part.split("=") for part in os.environ["PARTITA_POLICY"].split(",") if part)
    settings = {name[7:]: int(value) for name, value in policy.items() if name.startswith("search.")}
    sets = {name: (reference_draws(name), {}, losses) for name, losses in REFERENCE.items()} | generated()
    for name, (draws, own, losses) in sets.items():
        sample, search = pt.as_sample(draws), pt.Search(n_jobs=1, **own, **settings)
        for loss in losses:
            fit = partial(pt.estimate, sample, LOSSES[loss], search=search, check_draws=False)
            yield f"{name}, {loss}", lambda seed, fit=fit: fit(rng=seed).expected_loss  # type: ignore[misc]


def network_problems() -> Iterator[tuple[str, Fit]]:
    from benchmarks.networks import KINDS, NETWORKS, real_case, uneven_planted
    from partita.models import StochasticBlockModel, as_graph

    cases = {f"{name}, {kind}": real_case(f"{name} {kind}") for name in NETWORKS[:6] for kind in KINDS}
    for kind, spread in (("free", 0.0), ("DC", 0.7)):
        graph = as_graph(uneven_planted(np.random.default_rng(3), 700, 12, 0.35, 1, spread)[1])
        cases[f"weak, {kind}"] = StochasticBlockModel(degree_corrected=spread > 0), graph
    for case, (model, graph) in cases.items():
        yield case, lambda seed, m=model, g=graph: -m.maximize(g, rng=seed, n_jobs=1).icl  # type: ignore[misc]


def mixture_problems() -> Iterator[tuple[str, Fit]]:
    from benchmarks.networks import SHARED
    from partita.models import MixtureDPM

    tables = {"glass": slice(9), "ecoli": slice(1, 8), "old_faithful": slice(2), "house_votes_84": slice(1, None)}
    for name, columns in tables.items():
        rows = np.genfromtxt(SHARED / "data" / f"{name}.csv", dtype=str, delimiter=",", skip_header=1)[:, columns]
        votes = name.startswith("house")
        fit, table = MixtureDPM("categorical" if votes else None).maximize, rows if votes else rows.astype(float)
        yield name, lambda seed, fit=fit, table=table: -fit(table, rng=seed, n_jobs=1).icl  # type: ignore[misc]


PROBLEMS = {"draws": draws_problems, "networks": network_problems, "mixtures": mixture_problems}

BINDER, OTHERS, LIMITS = ", binder", ", (?!binder)", "limit|cls15|vi .5"
EFFORTS = ("small", "small_plain", "small_plain_uneven", "medium", "medium_uneven", "large")


def efforts(place: int, value: int) -> str:
    """One field of every network's effort."""
    return ",".join(f"networks.{name}.{place}={value}" for name in EFFORTS)


def starts(cycle: str, places: tuple[int, ...], kind: int) -> str:
    """Other starts of networks: 1 spectral, 4 communities, 5 annealed, 6 random."""
    return ",".join(f"networks.{cycle}.{place}={kind}" for place in places)


#: A variation, its policy, and what is in the names of the problems where it may change something.
DRAWS = f"""
default
no chains | chains=0
chains among all items | boundary=0 | {OTHERS}
no rebuilding | search.zealous=0
rebuilding half | search.zealous=5
rebuilding double | search.zealous=20
rebuilding of single clusters | pairs=0
rebuilding by attempts alone | partition.allocations_per_attempt=1e9
rebuilding by allocations half | partition.allocations_per_attempt=0.15
rebuilding without room made | room=0 | {LIMITS}
any merge makes room | partition.cheap_merges=1e6 | {LIMITS}
no merges in descents | merges=0
no crossing | partition.max_crossing_rounds=0
crossing once | partition.max_crossing_rounds=1
crossing half | partition.max_rank_sum=3
crossing double | partition.max_rank_sum=7
no large neighbourhoods | partition.fruitless_rounds=0
large neighbourhoods half | partition.intensifying_attempts=12
large neighbourhoods double | partition.intensifying_attempts=48
large neighbourhoods in one round | partition.fruitless_rounds=1
large neighbourhoods of two | partition.intensified=2
no regions | regions=0
no clusters of draws | gather=0
clusters of draws also if alike | partition.alike_share=2
regions of two clusters | partition.max_dissolved=1
regions of any size | partition.few_dissolved_items=1e9
always large neighbourhoods | partition.few_at_best=1000
share of runs alone | partition.few_at_best=0
no exchanges | partition.exchange_breadth=0 | {LIMITS}
exchanges one deep | partition.exchange_depth=1 | {LIMITS}
no sequential starts | sequential=0
no random starts | random=0
no starts from draws | draws=0
the first draw that comes | partition.draws_per_start=1
eight runs | search.runs=8
one level | draws.max_coarse=1e9,draws.coarse_labels=1e15,draws.few_draws=1e9 | {OTHERS}
half as many coarse draws | draws.max_coarse=128 | {OTHERS}
several levels of few labels | draws.few_labels=0 | {OTHERS}
one group | draws.max_groups=1 | {OTHERS}
two groups | draws.max_groups=2 | {OTHERS}
one kept per group | draws.kept_per_group=1 | {OTHERS}
no tabu search | draws.tabu_patience=0 | {BINDER}
tabu search half | draws.tabu_patience=100 | {BINDER}
tabu search double | draws.tabu_patience=400 | {BINDER}
tenure without chance | draws.tenure_part=1e6 | {BINDER}
no population | draws.population=0 | {BINDER}
population half | draws.population=24 | {BINDER}
generations half | draws.fruitless_generations=9 | {BINDER}
two at the best end it | draws.enough_at_best=2 | {BINDER}
further runs no more persistent | draws.further_persistence=1 | {BINDER}
disagreement as for others | draws.matrix_part_at_best=0.125 | {BINDER}
no matrix | draws.max_matrix_items=0 | {BINDER}
"""
NETWORK = f"""
default
no annealing | {starts("small_cycle", (1, 3, 4, 6, 7), 6)}
no spectral starts | {starts("small_cycle", (0, 5), 5)}
no communities | {starts("small_cycle", (2,), 5)}
one resolution | {",".join(f"networks.resolutions.{place}=1" for place in range(5))}
annealing half | {efforts(0, 50)}
one effort | {efforts(0, 140)},{efforts(2, 4)},{efforts(3, 8)}
no crossing | partition.max_generations=0
patience half | {efforts(3, 3)}
no reheating | {efforts(1, 0)}
no groups | partition.max_groups=1
no refinement | partition.max_refinements=0
no rearrangement | {efforts(5, 0)},{efforts(6, 0)},{efforts(7, 0)}
runs not rearranged | {efforts(5, 0)}
children not rearranged | {efforts(6, 0)}
rearrangement without heat | networks.arrangement_heat=0
no splits | splits=0
no last sweeps | networks.max_polished=0
all clusters are near | networks.min_near=1e6
no partial sweeps | partition.max_follows=1
no periphery starts | {starts("uneven_cycle", (1,), 6)} | weak
no random starts | {starts("uneven_cycle", (3,), 2)},{starts("medium_cycle", (1, 3), 1)} | weak
"""


MIXTURE = """
default
no reheating | mixtures.reheat_sweeps=0
no annealing | mixtures.max_small=0
no splits | splits=0
no crossing | partition.max_generations=0
no groups | partition.max_groups=1
"""


def listed(table: str) -> dict[str, tuple[str, str]]:
    lines = ([*line.split(" | "), "", ""] for line in table.strip().splitlines())
    return {name: (policy, problems) for name, policy, problems, *_ in lines}


VARIATIONS = {"draws": listed(DRAWS), "networks": listed(NETWORK), "mixtures": listed(MIXTURE)}


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
