"""An estimate from draws: answer, notes, facts, tables, and the sections of its page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita.draws.sample import PartitionSample
from partita.estimation.convergence import Quantity, draw_summaries, quantities
from partita.estimation.result import Estimate
from partita.estimation.search_warnings import HARD_SEARCH, unlabelled_warnings
from partita.losses.agreement import adjusted_rand
from partita.plots.points import axis_names, check_data
from partita.proofs.bounds import with_proof
from partita.results.balls import aligned_bounds, ball_facts, ball_rows, ball_sentence, ball_table, bounds_table
from partita.results.chains import chain_figure, chain_strips
from partita.results.components import MANY_CLUSTERS, components_table, sizes_table
from partita.results.extras import EXTRAS, column_questions, extra_sections
from partita.results.figures import ball_strips, bars, scatter_figure, trace_figure
from partita.results.interpretation import interpretation
from partita.results.memberships import is_shown, membership_columns, membership_section
from partita.results.methods_text import paragraphs
from partita.results.parts import figure, listed, section, subheading
from partita.results.presentation import Note, cautions, facts
from partita.results.sentences import amount, loss_words
from partita.results.tables import Table, columns, table
from partita.results.uncertain import LISTED, MIXING_CELLS, SampledPresentation, listed_rows
from partita.search.settings import explicit_limit, into_at_most
from partita.uncertainty.ball import CredibleBall, placed_only
from partita.uncertainty.certainty import (
    ClusterStability,
    ItemCertainty,
    cluster_stability,
    item_certainty,
    n_clusters_posterior,
)
from partita.uncertainty.memberships import Memberships, memberships

FEW_DRAWS = 200
GIVEN = "given"  # the method of a partition that was not searched
#: Label, caption and hint of the figures.
FIGURES = {
    "points": ("The data, coloured by cluster", "", "Point at or tap an item for its name."),
    "counts": (
        "Posterior probabilities of the number of clusters",
        "The orange bar is the number of clusters of the estimate.",
        "Point at or tap a bar for its value.",
    ),
    "strips": (
        "Labels of the estimate and of the bounds, one strip each",
        "One strip per partition, with the items in the order of the map.",
        "Point at or tap a strip for the cluster.",
    ),
    "chains": (
        "Trace of each chain, and the ranks of its draws among all",
        "One line per chain: the summary of each draw on the left, the ranks of its draws among those of all chains on"
        " the right. Chains that mixed overlap, and their ranks are flat.",
    ),
    "chain-strips": (
        "Estimate of each chain, one strip each",
        "The estimate of each chain alone, with the items in the order of the map.",
        "Point at or tap a strip for the cluster.",
    ),
    "trace": (
        "Expected loss after each sweep, one line per run",
        "Expected loss after each sweep, one line per run, the best in orange. Early sweeps of the default search use"
        " only some of the draws, so their values may be below the final one.",
    ),
}
#: The certainties of an estimate, which several presentations may need.
_certainties: WeakKeyDictionary[Estimate, ItemCertainty] = WeakKeyDictionary()


class DrawsPresentation(SampledPresentation):
    """An estimate from draws with its ball, its bound and other extras."""

    kind = "draws"
    names_at = "result.sample.names"
    takes: ClassVar[dict[str, str]] = {
        "partita.uncertainty.ball.CredibleBall": "ball",
        "partita.proofs.bounds.Bound": "bound",
        "partita.uncertainty.diagnostics.Diagnostics": "diagnostics",
        "partita.estimation.result.Estimate": "others",
        "partita.models.chains.chain.Chain": "chain",
        **EXTRAS,
    }
    several = frozenset({"others", "relations"})
    same_items: ClassVar[dict[str, str]] = {
        "ball": "center",
        "others": "labels",
        "chain": "n_items",
        "partial": "labels",
        "fused": "labels",
        "tree": "levels.0",
        "error": "labels.0",
        "parameters": "labels",
        "sensitivity": "estimate.labels",
    }
    takes_data = True
    own = facts("""
        expected_loss | posterior expected loss of the partition
        loss = result.loss.name | name of the loss
        loss_weights = result.loss.weights | weights of the loss; empty if it has none
        method | method of the search
        proven | whether no partition is better
        gap | how much lower the loss of another partition may be, as a share; null if no bound is known
        bound = extras.bound | lower bound on the expected loss; null if none was asked for
        seed | seed that gives the same answer again
        standard_error | Monte Carlo standard error of the expected loss; null if the draws are no chains
        n_draws = result.sample.n_draws | number of draws
        n_unique = result.sample.n_unique | number of distinct draws
        n_chains = result.sample.n_chains | number of chains
        r_hat = largest_r_hat | largest R-hat of the summaries of the draws; null if it is not known
        effective_draws = effective_draws | smallest effective sample size of these summaries; null if it is not known
        runs = result.n_runs | number of runs of the search
        partitions_compared = result.runs.# | number of partitions to which the runs led
        times_reached = n_reached | how many of them have the lowest loss
        held_out | expected loss on draws that were not searched; null without such
        compression | how many items, draws and clusters each searched one represents
        ball = ball_facts | credible ball; null if none was asked for""")
    written = ("items", "clusters", "runs", "ball")

    def __init__(self, result: Estimate, extras: Any = (), **given: Any) -> None:
        self.density: Any = None
        super().__init__(result, extras, **given)
        self.searched, self.result = result, with_proof(result, self.extras.get("bound"))
        if self.data is not None:
            self.columns = axis_names(self.data)
            self.data = check_data(self.data, len(self.labels), self.names, "the estimate")

    # Extras.

    def check_parameters(self, parameters: Any) -> None:
        """Parameters must be those of the clusters of this partition."""
        if not np.array_equal(self.result.labels, parameters.labels):
            raise ValueError("parameters are those of another partition than the estimate")

    def check_ball(self, ball: Any) -> None:
        """The ball must be around this partition."""
        if not np.array_equal(self.result.labels, ball.center):
            raise ValueError("the ball is around another partition than the estimate")

    def check_profiles(self, profiles: Any) -> None:
        """Profiles must be those of the clusters of this partition."""
        if not np.array_equal(np.bincount(self.result.labels + 1)[1:], profiles.sizes):
            raise ValueError("profiles are those of another partition than the estimate")

    @property
    def ball(self) -> CredibleBall | None:
        """The credible ball, if it was given."""
        return self.extras.get("ball")

    @property
    def n_reached(self) -> int | None:
        """How many of them have the lowest loss; None without any."""
        return self.result.times_reached if self.result.runs else None

    @property
    def ball_facts(self) -> dict[str, Any] | None:
        """The facts about the ball."""
        return None if self.ball is None else ball_facts(self.ball)

    # What is computed once.

    @cached_property
    def of_items(self) -> ItemCertainty:
        """How certain the cluster of each item is."""
        if self.searched not in _certainties:
            _certainties[self.searched] = item_certainty(self.searched)
        return _certainties[self.searched]

    @cached_property
    def certainty(self) -> Floats:
        """Mean probability of each item of being with the other members of its cluster."""
        return self.of_items.probability

    @cached_property
    def memberships(self) -> Memberships | None:
        """The probability of each cluster for each item; None if there are very many clusters."""
        return memberships(self.searched) if is_shown(len(self.labels), self.n_clusters) else None

    @cached_property
    def placed(self) -> tuple[Estimate, CredibleBall | None]:
        """Estimate and ball without items that are in no cluster."""
        part, ball, _ = placed_only(self.result, self.ball, self.first)
        return part, ball

    @cached_property
    def stability(self) -> ClusterStability:
        """How certain each cluster is."""
        whole = self.in_clusters.size == len(self.labels)
        return cluster_stability(self.placed[0], certainty=self.of_items if whole else None)

    @property
    def sample(self) -> PartitionSample:
        return self.placed[0].sample

    @cached_property
    def quantities(self) -> list[Quantity]:
        """R-hat and effective sample size of summaries of the draws; empty if they cost much or have no meaning."""
        sample = self.result.sample
        if "diagnostics" in self.extras:
            return list(self.extras["diagnostics"].quantities)
        if sample.is_weighted or sample.n_unique * sample.n_items > MIXING_CELLS:
            return []
        return quantities(draw_summaries(sample, self.result.distances))

    @property
    def largest_r_hat(self) -> float | None:
        """The largest R-hat of the summaries of the draws."""
        return max((q.r_hat for q in self.quantities if np.isfinite(q.r_hat)), default=None)

    @property
    def effective_draws(self) -> float | None:
        """The smallest effective sample size of the summaries of the draws."""
        return min((q.ess for q in self.quantities if np.isfinite(q.ess)), default=None)

    # The answer and the notes.

    def more_answer(self) -> Iterator[str]:
        if self.ball is not None:
            yield ball_sentence(self.ball)

    @cached_property
    def details(self) -> str:
        """What was searched, and what the search found."""
        best, sample = self.result, self.result.sample
        what = f"the lowest posterior expected {loss_words(best.loss)} {_found(best)}"
        if best.method == GIVEN:
            what = f"the posterior expected {loss_words(best.loss)}"
        sentences = [
            f"This partition has {what}: {amount(best.expected_loss, best.loss)}, over"
            f" {plural(sample.n_draws, 'draw')} ({sample.n_unique:,} distinct)."
        ]
        runs = len(best.runs)
        if not best.proven and runs > 1 and not best.interrupted and best.times_reached > max(1, HARD_SEARCH * runs):
            sentences.append(f"{best.times_reached} of {best.ends} reached this loss: different runs agree.")
        if "bound" in self.extras:
            sentences.append(self.extras["bound"].in_words())
        return " ".join(sentences)

    def find_notes(self) -> Iterator[Note]:
        best, sample = self.result, self.result.sample
        checked = self.extras.get("diagnostics")
        yield from cautions(best.cautions)
        yield from cautions(checked.on_chains if checked is not None else ())
        yield from cautions(getattr(self.extras.get("chain"), "model_notes", ()))
        if sample.n_draws < FEW_DRAWS:
            yield Note(
                f"There are only {plural(sample.n_draws, 'draw')}. Probabilities, such as that of the ball,"
                " are coarse; a few thousand draws are better.",
                warning=True,
            )
        part, ball = self.placed
        converged = set(best.cautions) <= set(unlabelled_warnings(best)) and (checked is None or checked.converged)
        yield from (Note(text) for text in interpretation(part, ball, self.known, converged=converged))
        if sample.n_unique == sample.n_draws > 1:
            yield Note(
                "No partition was drawn twice: the posterior is spread over more partitions than there are draws,"
                " so the draws say more about pairs of items and distances than about single partitions."
            )
        if sample.n_chains == 1 and sample.n_draws > 1 and not sample.is_weighted:
            yield Note("There is one chain. Several chains from different starts show whether they mix.")
        yield from column_questions(self)
        if ball is not None and not ball.loss.is_metric:
            yield Note(
                f"The {loss_words(ball.loss)} is not a metric: distances in the ball are measured from a draw to"
                " the estimate, and two partitions inside it may be far from each other."
            )

    # Facts and tables.

    @property
    def noise(self) -> Floats | None:
        share: Floats | None = self.result.sample.noise
        return share

    def items_table(self) -> Table:
        table, found = super().items_table(), self.memberships
        if found is None:
            return table
        new = membership_columns(self.n_clusters, self.first)
        return table.beside(len(table.columns), new, found.probabilities.T)

    def clusters_table(self) -> Table:
        """Size, certainty, stability and exemplar of each cluster."""
        stability, part = self.stability, self.placed[0]
        names = part.sample.names or self.item_names
        shares = (stability.size, stability.size / part.labels.size, stability.cohesion, stability.jaccard)
        cells = [values.tolist() for values in (*shares, stability.exact)]
        exemplars = [names[item] for item in stability.exemplar.tolist()]
        header = columns("""
            Cluster; Items; Share; Certainty | Mean probability that two of its items are together
            Stability | Mean overlap (Jaccard) with the most similar cluster of a draw
            Exact | Probability of exactly this cluster
            Exemplar | The item with the highest certainty""")
        rows = list(zip(range(part.n_clusters), *cells, exemplars, strict=True))
        return Table("clusters", "Clusters of the estimate", header, rows, indexed=True)

    def more_tables(self) -> Iterator[Table | None]:
        part = self.placed[0]
        yield self.uncertain_table()
        yield self._runs()
        yield self._mixing()
        if part.n_clusters >= MANY_CLUSTERS:
            yield components_table(part, self.known, self.names_in_clusters)
            yield sizes_table(part.sizes)
        if self.ball is not None:
            yield ball_table(self.ball, self.item_names)
            yield bounds_table(self.ball)
        yield self._others()

    def _runs(self) -> Table | None:
        if not self.result.runs:
            return None
        rows = [
            (run, row.start, row.sweeps, row.moves, row.clusters, row.loss, round(row.seconds, 4))
            for run, row in enumerate(self.result.runs, self.first)
        ]
        return table("runs", "Runs of the search", "Run; Start; Sweeps; Moves; Clusters; Expected loss; Seconds", rows)

    def _mixing(self) -> Table | None:
        rows = [(q.name, q.mean, q.sd, q.r_hat, q.ess) for q in self.quantities]
        header = columns("""
            Quantity; Mean; Spread | Standard deviation over the draws
            R-hat | 1 when the chains agree; ▲ above 1.01, and above 1.05 they have not mixed
            Effective draws | Number of independent draws that are equally informative; ▼ below 400""")
        return Table("mixing", "Mixing of the chains", header, rows) if rows else None

    def _others(self) -> Table | None:
        best = self.result
        rows = [
            (loss_words(other.loss), other.n_clusters, float(adjusted_rand(best.partition, other.partition)))
            for other in self.extras.get("others", ())
        ]
        header = columns("""
            Loss; Clusters
            Agreement | Adjusted Rand index with the estimate of this report; 1 is the same partition""")
        return Table("losses", "Estimates under other losses", header, rows) if rows else None

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"draws": self.extras["chain"].labels} if "chain" in self.extras else {}

    # The page.

    def settings(self) -> Iterator[tuple[str, str]]:
        best, sample = self.result, self.result.sample
        chains = f" in {sample.n_chains} chains" if sample.n_chains > 1 else ""
        yield "Draws", f"{sample.n_draws:,}{chains}, {sample.n_unique:,} distinct"
        yield "Items", f"{sample.n_items:,}"
        yield "Loss", loss_words(best.loss)
        error = "" if best.standard_error is None else f" ± {best.standard_error:.2g}"
        yield "Expected loss", f"{amount(best.expected_loss, best.loss)}{error}"
        yield "Method", best.method
        if sample.is_weighted:
            yield "Weights", "the draws are weighted"
        if sample.has_gaps:
            yield "Missing labels", "some draws leave items unlabelled"

    def sections(self) -> Iterator[dict[str, Any] | None]:
        yield from super().sections()
        yield section("paper", "For a paper", *paragraphs(self))

    def more_sections(self) -> Iterator[dict[str, Any] | None]:
        yield from extra_sections(self, first=True)
        yield self.uncertain_section()
        yield None if self.memberships is None else membership_section(self.memberships, self.first)
        told = "Posterior probability that two items share a cluster."
        yield self.map_section(told, "Similarity of items", "estimate")
        yield self._ball_section()
        if "losses" in self.tables:
            told = (
                "The same draws, summarised by other losses: different losses penalise splits and merges differently."
            )
            yield section("losses", "Estimates under other losses", told, self.tables["losses"])
        yield from extra_sections(self)

    def clusters_blocks(self) -> Iterator[Any]:
        posterior = bars(n_clusters_posterior(self.result.sample), self.n_clusters)
        counts = figure("counts", "counts", posterior, *FIGURES["counts"])
        if counts is not None and self.n_clusters not in posterior["x"]:
            counts["caption"] = f"The estimate has {self.n_clusters:,} clusters, which no draw has."
        tables, points = self.tables, None if self.ball is not None else self._points()
        shown = tables["clusters"]
        if len(shown.rows) > LISTED:
            shown = listed_rows(shown, 3, LISTED, "clusters")
        yield from (tables.get(name) for name in ("sizes", "components"))
        yield shown
        yield _figure("points", "points", points)
        yield from (subheading("Number of clusters"), counts)

    def _points(self) -> dict[str, Any] | None:
        part, ball = self.placed
        if self.data is None:
            return None
        names = self.names_in_clusters
        partitions = [("estimate", part.labels), *aligned_bounds(part.labels, ball)]
        return scatter_figure(self.data[self.in_clusters], partitions, names, self._density(), self.columns)

    def _density(self) -> tuple[Any, Any] | None:
        """Grid and values of the posterior predictive density of one column, if the chain of a model was given."""
        chain = self.extras.get("chain")
        if chain is None or self.data.shape[1] > 1 or not hasattr(chain.model, "predictive_density"):
            return None
        low, high = float(self.data.min()), float(self.data.max())
        grid = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 400)
        return grid, chain.predictive_density(grid[:, None])

    def _ball_section(self) -> dict[str, Any] | None:
        part, ball = self.placed
        if ball is None:
            return None
        told = (
            "The ball holds the draws nearest to the estimate. Its upper bound is the draw in the ball with the fewest"
            " clusters, its lower bound the one with the most, and its horizontal bound the one farthest from the"
            " estimate."
        )
        partitions = [("estimate", part.labels), *aligned_bounds(part.labels, ball)]
        strips = None if self.heat is None else ball_strips(partitions, self.heat)
        return section(
            "ball",
            "Credible ball",
            told,
            listed(ball_rows(ball)),
            _figure("strips", "strips", strips),
            _figure("points", "points", self._points()),
            self.tables["bounds"],
        )

    def diagnostics_blocks(self) -> Iterator[Any]:
        part, best = self.placed[0], self.result
        checked = self.extras.get("diagnostics")
        strips = (
            None if checked is None or self.heat is None else chain_strips(part, checked, self.in_clusters, self.heat)
        )
        disagree = len(best.runs) > 1 and best.times_reached < len(best.runs)
        trace = trace_figure([run.trace for run in best.runs]) if disagree else None
        chains = chain_figure(best) if self.quantities else None
        yield subheading("Chains") if self.quantities else None
        yield _figure("chains", "chains", chains)
        yield _figure("chain-strips", "strips", strips)
        yield self.tables.get("mixing")
        yield subheading("Runs") if disagree else None
        yield _figure("trace", "trace", trace)
        yield self.tables["runs"] if disagree else None

    def reproduce(self) -> Iterator[tuple[str, str]]:
        best = self.result
        yield "Seed", "none was given" if best.seed is None else str(best.seed)
        yield (
            "Call",
            f"estimate(draws, loss={best.loss}, method={best.method!r}, search={best.search}, rng={best.seed})",
        )
        if self.ball is not None:
            yield "Ball", f"credible_ball(estimate, level={self.ball.level:g})"


def _figure(name: str, kind: str, data: Any) -> dict[str, Any] | None:
    return figure(name, kind, data, *FIGURES[name])


def _found(estimate: Estimate) -> str:
    if estimate.proven:
        return f"of all partitions{into_at_most(explicit_limit(estimate.sample, estimate.search))}, which is proven"
    return f"that {estimate.n_runs} runs of the search found" if estimate.n_runs > 1 else "that was found"
