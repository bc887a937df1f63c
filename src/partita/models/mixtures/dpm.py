"""Dirichlet process mixtures of tables: each column has its own family, missing cells are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.errors import Argument, ArgumentError, Sentence, Setting
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.plan import Sampling
from partita.models.chains.sampling import Registry, Sampler
from partita.models.mixtures.augmentation import AugmentedSampler, CompletedGroups, groups_of
from partita.models.mixtures.base import (
    Base,
    CoreColumns,
    bases_by_gaps,
    check_full,
    core_columns,
    has_full_gaps,
    log_carrier,
    log_positive,
    make_base,
)
from partita.models.mixtures.base_measure import partition_prior
from partita.models.mixtures.cells import Cells, check_cells, encode, rows_of, warn_empty_rows
from partita.models.mixtures.column_notes import column_notes
from partita.models.mixtures.curves import Curves, read_curves
from partita.models.mixtures.maximum import IclSearch, proportions_prior
from partita.models.mixtures.mixture_model import MixtureModel, NewScores, noise_prior
from partita.models.mixtures.priors import DiscreteBase, FiniteMixture, GammaAlpha, PowerAlpha, SplitMergeMoves
from partita.models.mixtures.projection import (
    MAX_ROWS,
    TABLE_SCHEMA,
    dependence_note,
    project,
    project_new,
    spread_over,
)
from partita.models.mixtures.raw import RawTable, read_raw
from partita.models.mixtures.schema import CURVED, IGNORE, Schema, choose_schema, given_families
from partita.models.mixtures.selection import (
    SelectingSearch,
    inclusion,
    indicators,
    mixing_summaries,
    prior_log_odds,
    shared_scores,
)

if TYPE_CHECKING:
    from partita.models.mixtures.imputation import Imputation


@Registry.add
class MixtureDPM(MixtureModel):
    """Dirichlet process mixture of tables with columns of several kinds and missing cells.

    x_ij | z ~ f_j(θ_{z_i, j}),  θ_{k, j} ~ P0_j,  z ~ CRP(alpha)

    independently for the columns j within a cluster, the parameters θ integrated out and missing cells left out:

    - gaussian: x ~ N(m, s²), s² ~ IG(a, b), m | s² ~ N(mu0, s² / c), mu0 the column mean if not given
    - positive: ln x is gaussian (log-normal; densities are those of x, with the factor 1 / x)
    - count: x ~ Poisson(λ), λ ~ Gamma(shape, rate)
    - negative-binomial, for counts with more spread: size r on a grid from 1/4 to 64, 1 − p ~ Beta(shape, 1 + r rate)
    - categorical, binary: level shares ~ Dirichlet(weight, ..., weight)
    - ordinal: a probit, P(x ≤ l) = Φ((t_l − m) / s) with the thresholds t_l of the whole column and m, s on a grid

    A column's family follows from its type: numbers, whole ones too, are gaussian, truth values binary, text and
    categories categorical. Dates, columns that mix types, columns of one level and columns without an observed cell
    raise an error until `columns` says "ignore".

    Parameters
    ----------
    columns : dict, sequence of str or str, optional
        Families that differ from those that the types imply: {"visits": "count", "A*": "categorical"}, one family for
        each column in order, or one name for all columns: "gaussian", "positive", "months" (since the first date),
        "count", "negative-binomial", "categorical", "binary", "ordinal" or "ignore". A pattern stands for the columns
        that match it; a column's own name counts more, and "*" less.
    alpha : float, GammaAlpha, PowerAlpha or None
        Concentration of the Dirichlet process: a number from 1e-100 to 1e100, or a prior on it. None: GammaAlpha(1, 1).
    full : sequence of lists of str, or "all", optional
        Names of gaussian and positive columns that share a covariance matrix within a cluster, one list for each such
        matrix; "all" is one list of all of them. The prior is Inverse-Wishart with 2 a + d − 1 degrees of freedom and
        scale 2 diag(b). `sample` draws missing cells of these columns in each sweep; `maximize` has none.
    select : bool or float
        Whether columns are selected: each has one parameter for each cluster, or one for all, so that it says nothing
        about them; a number is the prior probability of the former, True is 1/2. `chain.inclusion` has the result.
    noise : bool or float
        Whether rows may belong to no cluster: such a row has parameters of its own, and is noise in `chain.noise` and
        in the estimate (label −1). A number is the prior mean of their share, which is Beta(1, 1 / mean − 1); True is
        0.05. For `sample`, with a Dirichlet process.
    curves : Curves or str, optional
        The columns of a long table, with one row per subject and time, that make curves; items are then the subjects.
        Or a linear regression in each cluster, such as "y ~ x1 + x2": y has a mean that depends on the other columns,
        which are themselves not modelled, with the prior of `Curves` for the coefficients of standardised columns.
    projection : bool or int
        Replaces the numeric columns, standardised, by their first principal components, so that correlated columns do
        not count as so many independent ones. True: the components of larger variance than noise has,
        (1 + √(columns / rows))². Missing cells count as means; `full` may be "all", a covariance of the components.
    mu0, c, a, b : float or None
        Base measure of gaussian and positive columns. None for mu0: the mean of each column; None for b: its sample
        variance. mu0 is from -1e100 to 1e100, c and b from 1e-100 to 1e100, a at most 1e8.
    discrete : DiscreteBase, optional
        Base measure of counts, categorical and binary columns: shape, rate and weight.
    discount : float
        Discount of the Pitman–Yor process, in [0, 1); 0 is the Dirichlet process.
    components : FiniteMixture, optional
        A finite mixture with symmetric Dirichlet weights and an unknown number of components, instead of the Dirichlet
        process.
    moves : SplitMergeMoves, optional
        Split–merge proposals per sweep, and the Gibbs scans that prepare each of them.
    sampling : Sampling, optional
        Length, number and threads of the chains that `fit` samples.
    random_state : None, int or numpy Generator
        Seed or source of random numbers for `fit`.
    loss : str or Loss
        The loss whose posterior expectation the partition `labels_` of `fit` minimises.

    Examples
    --------
    >>> import partita as pt
    >>> table = {"size": [1.0, 1.2, None, 7.9, 8.1, 8.0], "colour": ["red", "red", "red", "blue", None, "blue"]}
    >>> sampling = pt.models.Sampling(draws=200, warmup=200, chains=2)
    >>> model = pt.models.MixtureDPM(b=0.1, sampling=sampling, random_state=1).fit(table)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> print(model.schema_)
    size: gaussian
    colour: categorical (2 levels: blue, red)

    References
    ----------
    Neal (2000), J. Comput. Graph. Stat. 9, Algorithm 3; Jain & Neal (2004), J. Comput. Graph. Stat. 13.
    """

    groups: ClassVar = {"discrete": DiscreteBase(), "moves": SplitMergeMoves(), "sampling": Sampling()}

    def __init__(
        self,
        columns: Mapping[str, str] | Sequence[str] | str | None = None,
        alpha: float | GammaAlpha | PowerAlpha | None = None,
        *,
        full: Sequence[Sequence[str]] | str | None = None,
        select: bool | float = False,
        noise: bool | float = False,
        curves: Curves | str | None = None,
        projection: bool | int = False,
        mu0: float | None = None,
        c: float = 0.5,
        a: float = 2.0,
        b: float | None = None,
        discrete: DiscreteBase | None = None,
        discount: float = 0.0,
        components: FiniteMixture | None = None,
        moves: SplitMergeMoves | None = None,
        sampling: Sampling | None = None,
        loss: Any = "vi",
        random_state: Any = None,
    ) -> None:
        self.columns, self.alpha, self.full, self.select, self.noise = columns, alpha, full, select, noise
        self.curves, self.projection = curves, projection
        self.mu0, self.c, self.a, self.b, self.discrete = mu0, c, a, b, discrete
        self.discount, self.components = discount, components
        self.moves, self.sampling = moves, sampling
        self.loss, self.random_state = loss, random_state

    def _inputs(self, X: Any) -> tuple[Cells, tuple[str, ...] | None]:
        table, cells, _ = self._read(X)
        return cells, table.names

    def _read(self, X: Any) -> tuple[RawTable, Cells, Base]:
        """A table of items as it came, as cells, and the base measure of these."""
        table, families, curves = self.items(read_raw(X))
        cells = encode(table, schema := choose_schema(table, families)) | curves
        warn_empty_rows(cells, table)
        cells = self.projected(cells, schema)
        return table, cells, self.base(cells)

    def projected(self, cells: Cells, schema: Schema) -> Cells:
        """The cells, with components in place of the numeric columns if the model has a projection."""
        if self.projection is False:
            return cells
        if self.full not in (None, "all") or self.select is not False:
            with_full = Sentence(" cannot be used together with ", Setting("select"), ", or with ", Setting("full"))
            raise ArgumentError(Argument("projection"), with_full, ", unless that is 'all'")
        return project(cells, schema, self.projection)

    def describe(self, X: Any) -> Schema:
        """The family of each column of a table, its levels, and `notes` with questions; nothing is sampled.

        >>> print(MixtureDPM({"visits": "count"}).describe({"visits": [0, 3, 1], "ill": [True, False, None]}))
        visits: count
        ill: binary (2 levels: False, True)
        """
        return self._described(read_raw(X))

    def items(self, table: RawTable) -> tuple[RawTable, Any, Cells]:
        """One row per item, the families of its columns, and the cells of curves and regressions."""
        if self.curves is None:
            return table, self.columns, {}
        found = read_curves(table, self.curves, self.columns)
        return found.table, found.families, found.cells

    def _described(self, table: RawTable) -> Schema:
        table, families, _ = self.items(table)
        schema = choose_schema(table, families)
        return replace(schema, notes=tuple(map(str, column_notes(table, schema, given_families(table, families)))))

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        cells = dict(inputs)
        base = self.base(cells)
        check_cells(cells, base.schema)
        prior = partition_prior(self, len(cells["numbers"]))
        start = np.empty(0, np.uint32)
        moves: tuple[float | None, int] = self.settings_of("moves").checked()

        def native(columns: Any, chain: int) -> Any:
            return _core.MixtureColumnsSampler(columns, prior, *moves, plan.seed, chain, start, plan.warmup)

        if not has_full_gaps(base, cells):
            core = self._core_columns(base, cells)
            self._admit_noise(core)
            return [native(core.native, chain) for chain in range(plan.chains)]
        if prior_log_odds(self.select) is not None:
            raise _beside_missing("select")
        if self.alone_is_noise:
            raise _beside_missing("noise")
        samplers = []
        for chain in range(plan.chains):
            groups = groups_of(base, log_positive(cells["numbers"], base.schema))
            core = core_columns(base, cells, groups=[group.cells for group in groups])
            samplers.append(AugmentedSampler(native(core.native, chain), groups, plan.seed, chain))
        return samplers

    @property
    def alone_is_noise(self) -> bool:
        """Whether a row that is alone in a draw counts as noise."""
        return noise_prior(self.noise) is not None

    def _admit_noise(self, core: CoreColumns) -> None:
        """Lets rows of the core be noise, if the model has it."""
        if (prior := noise_prior(self.noise)) is None:
            return
        if self.components is not None or self.discount != 0:
            raise ValueError("noise needs a Dirichlet process, without components and discount")
        if prior_log_odds(self.select) is not None:
            raise ArgumentError(Argument("noise"), " cannot be used together with ", Setting("select"))
        core.native.admit_noise(prior.a, prior.b)

    def _icl_search(self, X: Any, n0: float) -> IclSearch:
        if self.alone_is_noise:
            raise ValueError("maximize has no noise; `sample` has, or leave noise out")
        table, cells, base = self._read(X)
        check_full(base, cells, table.place)
        core, prior = self._core_columns(base, cells), proportions_prior(n0, table.n_items)
        native = _core.MixtureColumnsSearch(core.native, prior)
        common = (native, table.n_items, table.names, 0.0, n0, self.params())
        if prior_log_odds(self.select) is None:
            return IclSearch(*common)
        return SelectingSearch(
            *common, core, base.schema.places(), lambda columns: _core.MixtureColumnsSearch(columns, prior)
        )

    def _core_columns(self, base: Base, cells: Mapping[str, NDArray[Any]], **more: Any) -> CoreColumns:
        """The columns for the core, with their selection if there is one; `more` is as for `core_columns`."""
        core, log_odds = core_columns(base, cells, **more), prior_log_odds(self.select)
        if log_odds is not None:
            core.native.select(log_odds)
        return core

    def inclusion(self, chain: Chain) -> dict[str, float]:
        """The probability that each column takes part; see `Chain.inclusion`."""
        if prior_log_odds(self.select) is None:
            raise TypeError("columns were not selected: MixtureDPM(select=True) selects them")
        base = self.base(chain.inputs)
        return inclusion(chain, core_columns(base, chain.inputs), base.schema.places())

    def data_notes(self, chain: Chain) -> tuple[str, ...]:
        """What the last draw of the first chain says about the model."""
        base = self.base(chain.inputs)
        rows = spread_over(chain.n_items, MAX_ROWS)  # before anything is copied
        numbers = log_positive(np.asarray(chain.inputs["numbers"])[rows], base.schema)
        return dependence_note(numbers[:, base.alone], chain.labels[0, -1][rows].astype(np.int64))

    def mixing_summaries(self, chain: Chain) -> dict[str, NDArray[np.float64]]:
        """What chains are compared by, beside their partitions."""
        if self.alone_is_noise:
            return {"share of noise": chain.stats["noise"]}
        if prior_log_odds(self.select) is None:
            return {}
        return mixing_summaries(chain, core_columns(self.base(chain.inputs), chain.inputs))

    def base(self, cells: Mapping[str, NDArray[Any]]) -> Base:
        """The base measure of each column."""
        return make_base(self, cells, Schema.from_array(cells["schema"]))

    def _new_cells(self, chain: Chain, X: Any) -> Cells:
        """New items as the chain's model sees them."""
        table = read_raw(X)
        if TABLE_SCHEMA in chain.inputs:
            own = Schema.from_array(chain.inputs[TABLE_SCHEMA])
            return project_new(encode(_matched(table, own, type(self).__name__), own), chain.inputs)
        schema = Schema.from_array(chain.inputs["schema"])
        if not schema.used(*CURVED):
            return encode(_matched(table, schema, type(self).__name__), schema)
        found = read_curves(table, self.curves, None, [column.name for column in schema.used(*CURVED)])
        return encode(_matched(found.table, schema, type(self).__name__), schema) | found.cells

    def _new_scores(self, chain: Chain, X: Any) -> Iterator[NewScores]:
        """The rows with the same missing cells are scored together, by the columns that they have."""
        cells, base = self._new_cells(chain, X), self.base(chain.inputs)
        fitted = None
        if has_full_gaps(base, chain.inputs):
            fitted = CompletedGroups(base, log_positive(chain.inputs["numbers"], base.schema))
        if not has_full_gaps(base, cells):
            yield from self._scores_of(chain, base, cells, fitted)
            return
        if prior_log_odds(self.select) is not None:
            raise _beside_missing("select")
        parts = bases_by_gaps(base, cells)
        several = (self._scores_of(chain, own, rows_of(cells, rows), fitted) for rows, own in parts)
        for found in zip(*several, strict=True):
            scores = np.empty((len(cells["numbers"]), found[0].scores.shape[1]))
            for (rows, _), new in zip(parts, found, strict=True):
                scores[rows] = new.scores
            yield found[0]._replace(scores=scores)

    def _scores_of(self, chain: Chain, base: Base, cells: Cells, fitted: CompletedGroups | None) -> Iterator[NewScores]:
        """New items in each draw, where the missing cells of columns with a covariance are drawn for the rows of the
        fit."""
        filled = None if fitted is None else [fitted.columns(group) for group in base.groups]
        core = self._core_columns(base, chain.inputs, any_gaps=True, groups=filled)
        prior = partition_prior(self, chain.n_items, chain.n_items + 1)
        start = np.zeros(chain.n_items, np.uint32)
        moves: tuple[float | None, int] = self.settings_of("moves").checked()
        sampler = _core.MixtureColumnsSampler(core.native, prior, *moves, 0, 0, start)
        new = core_columns(base, cells, any_gaps=True).native
        included = self._included_units(chain, core)
        shared = shared_scores(sampler, new, start, len(core.units)) if included is not None else None
        noise = noise_prior(self.noise)
        for index, draw, alpha, weight in self._draws_with_weights(chain):
            if fitted is not None and filled is not None:
                fitted.draw(index, draw)
                for array, group in zip(filled, base.groups, strict=True):
                    array[:] = fitted.columns(group)  # where the core reads it
            if noise is not None:
                yield noise.new_scores(sampler.score_new(draw, alpha, new), draw, alpha)
                continue
            if included is None or shared is None:
                yield NewScores(sampler.score_new(draw, alpha, new), draw, weight)
                continue
            scores = sampler.score_new(draw, alpha, new, included[index].tolist())
            yield NewScores(scores + shared[:, ~included[index]].sum(axis=1, keepdims=True), draw, weight)

    def _included_units(self, chain: Chain, core: CoreColumns) -> NDArray[np.bool_] | None:
        """The indicators of each draw in the order of the units of `core`, if columns are selected."""
        if prior_log_odds(self.select) is None:
            return None
        place = {unit: j for j, unit in enumerate(core_columns(self.base(chain.inputs), chain.inputs).units)}
        return indicators(chain)[..., [place[unit] for unit in core.units]]

    def _log_carrier(self, chain: Chain, X: Any) -> NDArray[np.float64]:
        cells = self._new_cells(chain, X)
        return log_carrier(cells, Schema.from_array(cells["schema"]))

    def _count_features(self, X: Any) -> int:
        table = read_raw(X)
        self.schema_ = self._described(table)
        return len(table.columns)

    def impute(self, chain: Chain, *, draws: int | None = None, rng: Any = None) -> Imputation:
        """Draws of the missing cells; see `Chain.impute`."""
        if TABLE_SCHEMA in chain.inputs:
            raise ValueError("with projection=, missing cells count as column means and are not drawn")
        from partita.models.mixtures.imputation import impute

        return impute(self.base(chain.inputs), chain, draws, rng)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _beside_missing(name: str) -> ArgumentError:
    said = Sentence(" does not work with missing values in columns of ", Setting("full"))
    return ArgumentError(Argument(name), said, "; leave out one of the two")


def _matched(table: RawTable, schema: Schema, who: str) -> RawTable:
    """A table of new items with the columns of the schema; those that it ignores may be absent."""
    names = {column.name for column in table.columns}
    wanted = [column.name for column in schema.columns if column.family != IGNORE]
    if not (table.named and schema.named) and len(table.columns) != len(schema.columns):
        raise ValueError(
            f"X has {len(table.columns)} features, but {who} is expecting {len(schema.columns)} features as input"
        )
    if table.named and schema.named:
        absent = next((name for name in wanted if name not in names), None)
        if absent is not None:
            raise ValueError(
                f"X has no column {absent!r}, which {who} was fitted with; fill it with None if it is missing"
            )
        return table
    renamed = tuple(replace(raw, name=column.name) for raw, column in zip(table.columns, schema.columns, strict=True))
    return RawTable(renamed, table.n_items, True, table.names, table.line_of)
