"""Runs axe-core on a page of every kind, wide and narrow, light and dark: `make axe` gets it from npm and calls this.

Serious and critical findings are errors.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

import partita as pt
from partita.datasets import load_karate, make_draws
from support.browser import chromium, resize

WIDTHS = (1280, 390)
PATIENCE = 600  # seconds, for busy machines
BAD = ("serious", "critical")
#: Runs after axe-core is there; the last argument of an asynchronous script is its callback.
RUN = "const done = arguments[arguments.length - 1]; axe.run(document).then((found) => done(found.violations));"


def draws_page(path: Path) -> None:
    draws = make_draws(n_items=60, n_draws=400, n_clusters=4, rng=1).reshape(4, 100, 60)
    best = pt.estimate(draws, rng=1)
    data = np.random.default_rng(1).normal(size=(60, 2))
    pt.report(best, pt.credible_ball(best), pt.diagnostics(best, rng=1), data=data, truth=draws[0, 0], path=path)


def pairs_page(path: Path) -> None:
    similarity = pt.similarity(make_draws(n_items=40, n_draws=200, n_clusters=4, rng=1))
    pt.report(pt.estimate(pt.as_similarity(similarity), "binder", rng=1), path=path)


def network_page(path: Path) -> None:
    fit = pt.models.StochasticBlockModel(directed=False).maximize(load_karate().data, restarts=2, rng=1)
    pt.report(fit, path=path)


def matrix_page(path: Path) -> None:
    rows, columns = np.arange(24) % 2, np.arange(10) % 2
    fit = pt.models.LatentBlockModel().maximize((rows[:, None] == columns).astype(int), restarts=2, rng=1)
    pt.report(fit, path=path)


def mixture_page(path: Path) -> None:
    table = {"x": np.r_[np.zeros(20), np.full(20, 9.0)] + np.arange(40) / 99, "kind": ["a", "b"] * 20}
    fit = pt.models.MixtureDPM().maximize(table, restarts=2, rng=1)
    pt.report(fit, pt.profiles(fit, table, rng=1), path=path)


def ensemble_page(path: Path) -> None:
    base = make_draws(n_items=40, n_draws=8, n_clusters=3, rng=1).T
    pt.report(pt.ensembles.summarize(pt.ensembles.consensus(base, rng=1), base), path=path)


def stability_page(path: Path) -> None:
    data = np.r_[np.zeros(20), np.full(20, 9.0)][:, None] + np.arange(40)[:, None] / 99
    found = pt.ensembles.stability(lambda part, seed: (part[:, 0] > 5).astype(int), data, 6, rng=1)
    pt.report(found, path=path)


def partial_page(path: Path) -> None:
    pt.report(pt.partial_clustering(make_draws(n_items=40, n_draws=200, n_clusters=3, rng=1), rng=1), path=path)


def layers_page(path: Path) -> None:
    friends, model = load_karate().data, pt.models.StochasticBlockModel(directed=False)
    layered = pt.models.LayeredBlockModel({"friends": model, "calls": model})
    pt.report(layered.maximize({"friends": friends, "calls": friends}, restarts=2, rng=1), path=path)


def fused_page(path: Path) -> None:
    labels = make_draws(n_items=40, n_draws=100, n_clusters=3, rng=1)
    shape = (100, int(labels.max()) + 1, 1)
    means = np.random.default_rng(1).normal(scale=4, size=shape)
    pt.report(pt.fuse(labels, means=means, covariances=np.ones(shape), rng=1), path=path)


PAGES: dict[str, Callable[[Path], None]] = {
    "draws": draws_page,
    "pairs": pairs_page,
    "network": network_page,
    "matrix": matrix_page,
    "mixture": mixture_page,
    "ensemble": ensemble_page,
    "stability": stability_page,
    "partial": partial_page,
    "layers": layers_page,
    "fused": fused_page,
}


def findings(browser: Any, axe: str, page: Path, width: int, dark: bool) -> list[Any]:
    """What axe-core reports of a page."""
    resize(browser, width)
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    browser.execute_script(axe)
    return list(browser.execute_async_script(RUN))


def main(source: str) -> None:
    """Checks all kinds of pages and ends with an error if there is a serious finding."""
    axe, bad = Path(source).read_text(encoding="utf-8"), 0
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as browser:
        browser.set_script_timeout(PATIENCE)
        for kind in PAGES:
            page = Path(folder) / f"{kind}.html"
            PAGES[kind](page)
            for width in WIDTHS:
                for dark in (False, True):
                    found = findings(browser, axe, page, width, dark)
                    serious = [rule for rule in found if rule["impact"] in BAD]
                    look = f"{kind}, {width} px, {'dark' if dark else 'light'}"
                    print(f"{look}: {len(serious)} serious of {len(found)} findings, {page.stat().st_size:,} bytes")
                    for rule in found:
                        print(f"  {rule['impact']}: {rule['id']}: {rule['nodes'][0]['html'][:160]}")
                    bad += len(serious)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main(sys.argv[1])
