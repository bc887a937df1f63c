"""`python -m fuzz`: random attacks with a seed; findings are shrunk, shown as scripts, and can be saved as tests."""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import walk_packages

from fuzz.choices import Choices, choices_of
from fuzz.execution import FOREIGN
from fuzz.shrink import shrink
from fuzz.targets import TARGETS
from fuzz.targets.registry import choose
from fuzz.workers import Pool, Result

#: What partita imports only where it is used, and children would import again and again.
HEAVY = (
    *("arviz", "dask.array", "distributed", "highspy", "jinja2", "matplotlib.pyplot", "narwhals._arrow.dataframe"),
    *("narwhals._pandas_like.dataframe", "narwhals._interchange.dataframe", "netCDF4", "networkx", "pandas"),
    *("pandas.io.formats.csvs", "pyarrow.pandas_compat", "pyarrow.parquet", "pymetis", "rich.columns", "rich.console"),
    *("rich.markdown", "rich.panel", "rich.syntax", "rich.table", "rich.traceback", "scipy.cluster.hierarchy"),
    *("scipy.optimize", "sklearn.cluster", "typer.testing", "xarray", "zarr"),
)
REPLAYED = "found before"
FOUND = Path(__file__).parent.parent / "tests" / "regressions"


def main() -> int:
    options = _options()
    if options.sanitized:
        from fuzz.sanitized import enter

        enter(sys.argv[1:])
    _warm_up()
    names = options.targets or list(TARGETS)
    started = time.monotonic()
    print(f"seed {options.seed}, cases from {options.first}, targets {len(names)}", flush=True)
    pool = Pool(lambda index: _script(options.seed, index, names), options.jobs, options.batch, options.case_seconds)
    counts: Counter[tuple[str, str]] = Counter()
    spent: Counter[str] = Counter()
    findings: dict[str, list[Result]] = {}
    foreign: dict[str, tuple[int, str]] = {}
    until = started + options.seconds if options.seconds else float("inf")
    for result in chain(_replayed(options), pool.run(options.first, options.cases, until)):
        counts[result.target, result.outcome.kind] += 1
        spent[result.target] += result.seconds
        if result.outcome.is_finding:
            findings.setdefault(result.outcome.signature, []).append(result)
        elif result.outcome.kind == FOREIGN:
            foreign.setdefault(result.outcome.signature, (result.index, result.outcome.detail))
    _summarise(counts, spent, findings, time.monotonic() - started, options.summary)
    if options.foreign:
        for signature, (index, detail) in sorted(foreign.items()):
            print(f"refused elsewhere: {signature} (case {index}): {detail[:160]}")
    for signature, results in findings.items():
        _show(signature, results, names, options)
    return 1 if findings else 0


def _replayed(options: argparse.Namespace) -> Iterator[Result]:
    """What was found before, for the sanitizers to see too."""
    scripts = [path.read_text() for path in sorted(FOUND.glob("*.case"))]
    pool = Pool(lambda index: (REPLAYED, scripts[index]), options.jobs, options.batch, options.case_seconds)
    return pool.run(0, len(scripts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the run's seed; case i has the stream (seed, i)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=10**9, help="number of cases")
    parser.add_argument("--seconds", type=float, default=None, help="begin no new batch after this time")
    parser.add_argument("--targets", nargs="*", choices=list(TARGETS), metavar="TARGET", help="only these targets")
    parser.add_argument("--jobs", type=int, default=2, help="child processes at a time")
    parser.add_argument("--batch", type=int, default=500, help="cases per child process")
    parser.add_argument("--case-seconds", type=float, default=20.0, help="what one case may take of a processor")
    parser.add_argument("--shrink-seconds", type=float, default=20.0, help="what shrinking one finding may take")
    parser.add_argument("--save", action="store_true", help="save each finding under tests/regressions")
    parser.add_argument(
        "--sanitized", action="store_true", help="use the extension of build/sanitize, under ASan and UBSan"
    )
    parser.add_argument("--summary", type=Path, help="write the counts to this JSON file")
    parser.add_argument("--foreign", action="store_true", help="list refusals whose words are not partita's own")
    return parser.parse_args()


def _warm_up() -> None:
    """Imports once what every child would import: children are forks of this process."""
    import matplotlib

    import fuzz.execution
    import partita

    matplotlib.use("Agg")
    for module in walk_packages(partita.__path__, "partita."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    for name in HEAVY:
        with suppress(ImportError):
            import_module(name)
    for name in partita.__all__:
        getattr(partita, name)
    fuzz.execution.run_script("command('--version')")
    gc.collect()
    gc.freeze()  # so that the collector leaves alone what children share with this process


def _script(seed: int, index: int, names: list[str]) -> tuple[str, str]:
    return _write(choices_of(seed, index), names)


def _write(choices: Choices, names: list[str]) -> tuple[str, str]:
    target = choose(choices, names)
    return target.name, target.write(choices)


def _summarise(
    counts: Counter[tuple[str, str]],
    spent: Counter[str],
    findings: dict[str, list[Result]],
    seconds: float,
    path: Path | None,
) -> None:
    kinds = sorted({kind for _, kind in counts})
    targets = sorted({target for target, _ in counts})
    width = max(map(len, targets), default=0)
    print(" " * width, *(f"{kind:>16}" for kind in kinds), f"{'ms per case':>12}")
    for target in targets:
        cost = 1000 * spent[target] / sum(counts[target, kind] for kind in kinds)
        print(f"{target:<{width}}", *(f"{counts[target, kind]:>16,}" for kind in kinds), f"{cost:>12.1f}")
    total = sum(counts.values())
    rate = total / max(seconds, 1e-9)
    print(f"{total:,} cases in {seconds:.0f} s, {rate:.0f} per second; {len(findings)} kinds of findings")
    if path is not None:
        table = {target: {kind: counts[target, kind] for kind in kinds} for target in targets}
        found = {signature: len(results) for signature, results in findings.items()}
        path.write_text(json.dumps({"cases": total, "seconds": seconds, "counts": table, "findings": found}, indent=1))


def _show(signature: str, results: list[Result], names: list[str], options: argparse.Namespace) -> None:
    result = min(results, key=lambda result: result.index)
    if result.target == REPLAYED:
        print(f"\n== {signature}: a case of {FOUND} fails again\n{result.outcome.detail}")
        return
    choices = choices_of(options.seed, result.index)
    _write(choices, names)

    def still_there(candidate: list[int]) -> list[int] | None:
        written = Choices(given=candidate)
        _, script = _write(written, names)
        pool = Pool(lambda index: (result.target, script), 1, 1, min(options.case_seconds, 5.0))
        again = list(pool.run(0, 1))
        return written.taken if again and again[0].outcome.signature == signature else None

    smallest = shrink(choices.taken, still_there, options.shrink_seconds)
    _, script = _write(Choices(given=smallest), names)
    print(f"\n== {signature}: {len(results)} cases, target {result.target}, seed {options.seed}, case {result.index}")
    print(result.outcome.detail)
    print(script, flush=True)
    if options.save:
        FOUND.mkdir(exist_ok=True)
        name = f"{result.target}-{hashlib.sha256(script.encode()).hexdigest()[:8]}.case"
        (FOUND / name).write_text(f"# {signature}\n{script}\n")


if __name__ == "__main__":
    sys.exit(main())
