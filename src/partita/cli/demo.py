"""`partita demo`: the galaxies, from data to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import partita as pt
from partita.cli.deliver import Delivery
from partita.cli.options import Json, Silent
from partita.cli.outputs import print_json, whole_folder

FIGURES = ("estimates.png", "ball.png", "similarity.png", "clusters.png", "trace.png")
GRID_POINTS = 400


def run(
    out: Annotated[Path, "Folder for the results."] = Path("demo"),
    draws: Annotated[int, "Posterior draws per chain; there are four chains."] = 4000,
    seed: Annotated[int, "Random seed; the same seed gives the same answer."] = 1,
    quiet: Silent = False,
    json: Json = False,
) -> None:
    """Galaxies end to end: data, posterior draws, estimates, credible ball, figures and a report.

    The velocities of 82 galaxies are clustered by a Dirichlet process mixture of Gaussians. Its draws are
    summarised under the variation of information and under Binder's loss. An earlier demo is replaced.

    Example: partita demo --out demo
    """
    import numpy as np

    from partita._support.names import Named
    from partita.results.present import present

    say = (lambda text: None) if quiet or json else print
    velocity = pt.datasets.load_galaxies().data[:, 0] / 1000
    with whole_folder(out, force=True) as folder:
        say(f"Data: velocities of {velocity.size} galaxies, in 1,000 km/s")
        model = pt.models.GaussianDPM(covariance="diag")
        chain = model.sample(velocity[:, None], draws=draws, warmup=draws, chains=4, rng=seed)
        if not chain.attrs["complete"]:  # a demo of half a sample is none
            raise KeyboardInterrupt
        names = [f"galaxy {i + 1}" for i in range(velocity.size)]
        sample = pt.as_sample(chain, names=names)
        say(f"Draws: {sample.n_draws:,} from four chains, {sample.n_unique:,} distinct")
        estimates = {loss: pt.estimate(sample, loss, rng=seed) for loss in ("vi", "binder")}
        for loss, best in estimates.items():
            say(f"Estimate under {loss}: {best.n_clusters} clusters, expected loss {best.expected_loss:.4f}")
        ball = pt.credible_ball(estimates["vi"])
        say(f"Credible ball: radius {ball.radius:.4f} bits, {ball.n_inside:,} distinct partitions")
        grid = np.linspace(velocity.min() - 3, velocity.max() + 3, GRID_POINTS)
        _draw(folder, velocity, (grid, chain.predictive_density(grid[:, None])), estimates, ball)
        data = Named(velocity[:, None], None, "data", columns=("velocity (1,000 km/s)",))
        shown = present(estimates["vi"], [ball, chain, estimates["binder"]], data=data, first=1)
        Delivery(folder)(shown, title="Galaxies")
    if json:
        facts = {loss: present(best, [ball] if loss == "vi" else []).facts for loss, best in estimates.items()}
        print_json({"out": str(out), "estimates": facts, "ball": facts["vi"]["ball"]})
    say(f"The report is {(out / 'report.html').absolute()}")


def _draw(folder: Path, velocity: Any, density: Any, estimates: dict[str, pt.Estimate], ball: pt.CredibleBall) -> None:
    """Figures 17 to 19 of Wade & Ghahramani, and the search."""
    from matplotlib.figure import Figure

    def new(width: float, height: float) -> Figure:
        return Figure(figsize=(width, height), layout="constrained")

    best = estimates["vi"]
    both = new(10, 3.6)
    for ax, (loss, estimate) in zip(both.subplots(1, 2), estimates.items(), strict=True):
        pt.plots.density_plot(velocity, estimate.labels, density=density, ax=ax)
        ax.set(title=f"{loss}: {estimate.n_clusters} clusters", xlabel="velocity, 1,000 km/s")
    panels = new(13, 3)
    axes = panels.subplots(1, 4, sharey=True)
    pt.plots.ball_panels(velocity, best.labels, ball, most=1, density=density, axes=axes)
    heat, counts, trace = new(6, 5), new(5, 3.2), new(5.4, 3.4)
    pt.plots.similarity_map(pt.similarity(best.sample), best.labels, ax=heat.add_subplot())
    pt.plots.cluster_counts(best.sample, estimate=best.labels, ax=counts.add_subplot())
    pt.plots.run_trace([run.trace for run in best.runs], ax=trace.add_subplot())
    for figure, name in zip((both, panels, heat, counts, trace), FIGURES, strict=True):
        figure.savefig(folder / name, dpi=150)
