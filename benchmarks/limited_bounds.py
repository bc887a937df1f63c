"""Gaps that `est.bound()` proves under a limit on clusters, beside those of the bound over all partitions.

`python -m benchmarks.limited_bounds --data iris:80 --loss binder --a 0.5 --b 1.5 --max-clusters 5,12` prints one row
per limit and writes it to benchmarks/results/limited_bounds.csv, where other rows stay; `--data` is as for
`benchmarks.bounds`. The bound over all partitions is that of the estimate without a limit, in the same time; its gap is
that of the estimate under the limit. CPU seconds count, because other work may share the machine.
"""

from __future__ import annotations

import argparse
import math
import time

from benchmarks.bounds import earlier, some_items
from benchmarks.record import write_result
from partita.draws.sample import as_sample
from partita.estimation.estimate import Estimate, estimate
from partita.losses.losses import VI, Binder
from partita.proofs.bounds import Bound
from partita.search.settings import Search

LOSSES = {"vi": VI, "binder": Binder}


def timed(best: Estimate, seconds: float) -> tuple[Bound, str]:
    """The bound, and its CPU seconds."""
    cpu = time.process_time()
    bound = best.bound(seconds)
    return bound, f"{time.process_time() - cpu:.1f}"


def gap(bound: Bound, loss: float) -> str:
    share = 1 - bound.value / loss
    return "proven" if bound.proven and share < 1e-6 else f"{share:.2%}"


def rows(given: argparse.Namespace) -> list[dict[str, str]]:
    sample, loss = as_sample(some_items(given.data)), LOSSES[given.loss](given.a, given.b)
    free = estimate(sample, loss, search=Search(n_jobs=1, max_clusters=math.inf), rng=1)
    unlimited, cpu = timed(free, given.seconds)
    found = []
    for limit in given.max_clusters.split(","):
        few = estimate(sample, loss, search=Search(n_jobs=1, max_clusters=int(limit)), rng=1)
        limited, cpu_limited = timed(few, given.seconds)
        found.append({
            "data": given.data, "loss": str(loss), "clusters": str(free.n_clusters), "limit": limit,
            "expected loss": f"{few.expected_loss:.6f}", "gap over all partitions": gap(unlimited, few.expected_loss),
            "its CPU s": cpu, "gap under the limit": gap(limited, few.expected_loss), "method": limited.method,
            "CPU s": cpu_limited, "time limit, s": f"{given.seconds:g}",
        })  # fmt: skip
        print(" | ".join(found[-1].values()), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="iris:80")
    parser.add_argument("--loss", choices=LOSSES, default="vi")
    parser.add_argument("--a", type=float, default=1.0)
    parser.add_argument("--b", type=float, default=1.0)
    parser.add_argument("--max-clusters", default="2")
    parser.add_argument("--seconds", type=float, default=30)
    new = rows(parser.parse_args())
    note = "one thread; the command gave the last rows; others are of earlier ones"
    write_result("limited_bounds", earlier("limited_bounds", new, ("data", "loss", "limit")) + new, note=note)


if __name__ == "__main__":
    main()
