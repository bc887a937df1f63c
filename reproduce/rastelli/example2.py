"""Example 2: groups and distance from the truth as the Gaussians widen (Figures 3 and 4)."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure

import frame
import partita as pt
from partita.plots.canvas import COLORS
from rastelli import paper, simulated
from rastelli.methods import GREEDY, run_method

ITEMS = 100
K_UP = 20
METHODS = (*GREEDY, "MEDV", "PEAR")
MEASURES = {"VI": "vi", "Binder": "binder", "NVI": "nvi", "NID": "nid"}
FILE = "rastelli-example2.csv.gz"
FIELDS = ("dataset", "sigma", "method", "groups", *MEASURES)
#: (data sets, sigmas, methods, groups and measures)
Scores = np.ndarray


@dataclass(frozen=True)
class Size:
    """Data sets for each sigma, and the chain of each."""

    datasets: int
    chain: simulated.Plan


def run(page: frame.Page, size: Size) -> None:
    scores = scores_of(run_missing(page.options.results / "runs" / FILE, size), size)
    groups = scores[..., 0]
    text = (
        f"{size.datasets} data sets of 100 points for each σ (the paper: 50), {size.chain} (the paper: "
        f"{simulated.PAPERS}); means at (±2, ±2), as in Example 1; σ is the variance; K_up = {K_UP}. The paper shows "
        "these numbers in figures only. ± is the standard error over data sets."
    )
    write_table(page, "Example 2, Figure 3: share of data sets with four groups", text, groups == 4, 2)
    best = [best_method((groups == 4)[:, s]) for s in range(len(paper.SIGMAS))]
    page.text("Largest share, by σ: " + ", ".join(best) + " (the paper: overall VI).")
    write_table(page, "Example 2, Figure 3: mean number of groups", "", groups, 2)
    below = [m for place, m in enumerate(METHODS) if groups[:, :, place].mean() < 4]
    page.text(f"Methods with fewer than four groups on average: {', '.join(below) or 'none'} (the paper: MEDV).")
    page.figure(
        draw_groups(groups), "figure-03", "Figure 3: share of data sets with four groups, and mean number of groups"
    )
    for place, name in enumerate(MEASURES, start=1):
        write_table(page, f"Example 2, Figure 4: {name} from the truth", "", scores[..., place], 3)
    page.figure(draw_distances(scores), "figure-04", "Figure 4: mean distance of the estimates from the truth")


def run_missing(path: Path, size: Size) -> list[dict[str, str]]:
    """All rows of the file at `path`, after those of missing data sets have been added to it."""
    done = {row["dataset"] for row in frame.read_runs(path)}
    due = [seed for seed in range(size.datasets) if str(seed) not in done]
    progress = frame.Progress("Example 2, data sets", size.datasets, size.datasets - len(due))
    with ProcessPoolExecutor(max_workers=2) as pool:
        for rows in pool.map(partial(run_seed, plan=size.chain), due):
            frame.append_runs(path, FIELDS, rows)
            progress.step()
    return frame.read_runs(path)


def run_seed(seed: int, plan: simulated.Plan) -> list[dict[str, str]]:
    """Groups, and the measures from the truth, of each method for each sigma: one row each."""
    return [row for sigma in paper.SIGMAS for row in run_dataset(sigma, seed, plan)]


def run_dataset(sigma: float, seed: int, plan: simulated.Plan) -> list[dict[str, str]]:
    data, truth = simulated.generate(ITEMS, (sigma,) * 4, np.random.default_rng([2, round(10 * sigma), seed]))
    sample = pt.as_sample(simulated.sample(data, plan, seed))
    rows = []
    for method in METHODS:
        found = run_method(method, sample, K_UP)
        measures = (f"{pt.partition_loss(truth, found.labels, loss):.10g}" for loss in MEASURES.values())
        rows.append(dict(zip(FIELDS, (str(seed), str(sigma), method, str(found.n_clusters), *measures), strict=True)))
    return rows


def scores_of(rows: list[dict[str, str]], size: Size) -> Scores:
    scores = np.full((size.datasets, len(paper.SIGMAS), len(METHODS), 1 + len(MEASURES)), np.nan)
    for row in rows:
        place = int(row["dataset"]), paper.SIGMAS.index(float(row["sigma"])), METHODS.index(row["method"])
        scores[place] = [float(row[name]) for name in ("groups", *MEASURES)]
    return scores


def write_table(page: frame.Page, title: str, text: str, values: np.ndarray, decimals: int) -> None:
    page.section(title, text, decimals=decimals)
    for m, method in enumerate(METHODS):
        for s, sigma in enumerate(paper.SIGMAS):
            mean, error = frame.mean_and_error(values[:, s, m])
            page.row(method, mean, None, error, column=f"σ = {sigma}")


def best_method(correct: np.ndarray) -> str:
    share = correct.mean(axis=0)
    return " and ".join(method for method, value in zip(METHODS, share, strict=True) if value == share.max())


def draw_groups(groups: np.ndarray) -> Figure:
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    draw_lines(axes[0], groups == 4)
    axes[0].set(ylabel="share with four groups", ylim=(0, 1))
    draw_lines(axes[1], groups)
    axes[1].set(ylabel="mean number of groups", yscale="log")
    axes[1].axhline(4, color="#999999", linewidth=0.8, linestyle="--")
    axes[1].set_yticks([3, 4, 6, 10, 15, 20], [3, 4, 6, 10, 15, 20])
    axes[1].minorticks_off()
    axes[1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_distances(scores: Scores) -> Figure:
    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6), layout="constrained", sharex=True)
    for place, (ax, name) in enumerate(zip(axes.flat, MEASURES, strict=True), start=1):
        draw_lines(ax, scores[..., place])
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("σ" if place > 2 else "")
    axes[0, 1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_lines(ax, values: np.ndarray) -> None:
    """One line per method, with standard errors, slightly offset so that the bars do not overlap."""
    for m, method in enumerate(METHODS):
        means, errors = zip(*(frame.mean_and_error(values[:, s, m]) for s in range(len(paper.SIGMAS))), strict=True)
        bars = None if None in errors else errors
        places = np.array(paper.SIGMAS) + 0.006 * (m - 2.5)
        style = {"color": COLORS[m], "marker": "os^DvP"[m], "markersize": 4, "linewidth": 1.2, "capsize": 2}
        ax.errorbar(places, means, bars, label=method, **style)
    ax.set_xlabel("σ")
