"""Dirichlet process mixtures of Gaussians, sampled by collapsed Gibbs with split–merge moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._support.names import row_names
from partita._support.validate import check_choice
from partita.models.chains.chain import Chain
from partita.models.chains.checkpoint import Plan
from partita.models.chains.plan import Sampling
from partita.models.chains.sampling import Registry, Sampler
from partita.models.mixtures.base_measure import diagonal_base, full_base, partition_prior, scaling
from partita.models.mixtures.maximum import IclSearch, proportions_prior
from partita.models.mixtures.mixture_model import MixtureModel, NewScores
from partita.models.mixtures.priors import FiniteMixture, GammaAlpha, PowerAlpha, SplitMergeMoves, WishartGrid


@Registry.add
class GaussianDPM(MixtureModel):
    """Dirichlet process mixture of Gaussians, its parameters integrated out.

    x_i | z ~ N(mu_{z_i}, Sigma_{z_i}),  (mu_k, Sigma_k) ~ P0,  z ~ CRP(alpha)

    covariance="full":  Sigma ~ IW(nu0, scale), mu | Sigma ~ N(mu0, Sigma / kappa0)
    covariance="diag":  s_j² ~ IG(a_j, b_j), mu_j | s_j² ~ N(mu0_j, s_j² / c_j), in each dimension j

    Parameters
    ----------
    covariance : "full" or "diag"
        Whether the clusters have any covariance matrix, or independent dimensions.
    alpha : float, GammaAlpha, PowerAlpha or None
        Concentration of the Dirichlet process: a number from 1e-100 to 1e100, or a prior on it. None: GammaAlpha(1, 1).
    discount : float
        Discount of the Pitman–Yor process, in [0, 1); 0 is the Dirichlet process.
    components : FiniteMixture, optional
        A finite mixture with symmetric Dirichlet weights and an unknown number of components, instead of the Dirichlet
        process.
    mu0 : float or (d,) array_like, optional
        Mean of the base measure, from -1e100 to 1e100; by default the mean of X.
    kappa0, nu0, scale : float, float, float or (d, d) array_like, optional
        Base measure of "full". By default 0.5, d + 3, and twice the diagonal of sample variances. kappa0 is from 1e-100
        to 1e100, nu0 above d − 1 and at most 1e8; scale has eigenvalues from 1e-100 to 1e100, and a number stands for
        that multiple of the identity.
    hyperprior : WishartGrid, optional
        For "full": draw kappa0, nu0 and scale with the partition, as `rDPGibbs` of R does; mu0 is then 0.
    c, a, b : float or (d,) array_like, optional
        Base measure of "diag". By default 0.5, 2 and the sample variances (Wade & Ghahramani, Section 6.2). From 1e-100
        to 1e100; a at most 1e8.
    standardize : bool
        Centre and scale each column first. The base measure is then that of the scaled data.
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
    >>> import numpy as np, partita as pt
    >>> X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.3]])
    >>> chain = pt.models.GaussianDPM(covariance="diag", b=0.1).sample(X, draws=200, chains=2, rng=1)
    >>> chain.labels.shape
    (2, 200, 6)

    References
    ----------
    Neal (2000), J. Comput. Graph. Stat. 9, Algorithm 3; Jain & Neal (2004), J. Comput. Graph. Stat. 13;
    Escobar & West (1995), J. Am. Stat. Assoc. 90; Miller & Harrison (2018), J. Am. Stat. Assoc. 113.
    """

    groups: ClassVar = {"moves": SplitMergeMoves(), "sampling": Sampling()}

    def __init__(
        self,
        covariance: str = "full",
        alpha: float | GammaAlpha | PowerAlpha | None = None,
        mu0: ArrayLike | None = None,
        *,
        kappa0: float | None = None,
        nu0: float | None = None,
        scale: ArrayLike | None = None,
        hyperprior: WishartGrid | None = None,
        c: ArrayLike | None = None,
        a: ArrayLike | None = None,
        b: ArrayLike | None = None,
        discount: float = 0.0,
        components: FiniteMixture | None = None,
        standardize: bool = False,
        moves: SplitMergeMoves | None = None,
        sampling: Sampling | None = None,
        loss: Any = "vi",
        random_state: Any = None,
    ) -> None:
        self.covariance, self.alpha, self.mu0 = covariance, alpha, mu0
        self.kappa0, self.nu0, self.scale, self.hyperprior = kappa0, nu0, scale, hyperprior
        self.c, self.a, self.b = c, a, b
        self.discount, self.components = discount, components
        self.standardize = standardize
        self.moves, self.sampling = moves, sampling
        self.loss, self.random_state = loss, random_state

    def _inputs(self, X: ArrayLike) -> tuple[dict[str, NDArray[Any]], tuple[str, ...] | None]:
        return {"X": as_data(X)}, row_names(X)

    def samplers(self, inputs: Mapping[str, NDArray[Any]], plan: Plan) -> Sequence[Sampler]:
        X = as_data(inputs["X"])
        return [self._sampler(X, plan.seed, chain, warmup=plan.warmup) for chain in range(plan.chains)]

    def _sampler(
        self,
        X: NDArray[np.float64],
        seed: int,
        stream: int,
        labels: NDArray[np.uint32] | None = None,
        log_v_items: int | None = None,
        warmup: int = 0,
    ) -> Any:
        """The core's sampler at its start, or at these labels."""
        self._check_covariance()
        scaled = scaling(X, self.standardize).apply(X)
        prior = partition_prior(self, len(X), log_v_items)
        moves: tuple[float | None, int] = self.settings_of("moves").checked()
        start = np.empty(0, np.uint32) if labels is None else labels
        rest = (prior, *moves, seed, stream, start, warmup)
        if self.covariance == "full":
            return _core.FullGaussianSampler(scaled, full_base(self, scaled), *rest)
        return _core.DiagonalGaussianSampler(scaled, diagonal_base(self, scaled), *rest)

    def _icl_search(self, X: ArrayLike, n0: float) -> IclSearch:
        if self.hyperprior is not None:
            raise ValueError("maximize needs a base measure that is given: hyperprior is for sample")
        data = as_data(X)
        self._check_covariance()
        scale = scaling(data, self.standardize)
        scaled, prior = scale.apply(data), proportions_prior(n0, len(data))
        if self.covariance == "full":
            native: Any = _core.FullGaussianSearch(scaled, full_base(self, scaled), prior)
        else:
            native = _core.DiagonalGaussianSearch(scaled, diagonal_base(self, scaled), prior)
        constant = -len(data) * float(np.log(scale.width).sum())
        return IclSearch(native, len(data), row_names(X), constant, n0, self.params())

    def _check_covariance(self) -> None:
        check_choice(self.covariance, "covariance", _BASE_ARGUMENTS)
        _check_base_arguments(self)

    def _log_carrier(self, chain: Chain, X: Any) -> NDArray[np.float64]:
        width = scaling(chain.inputs["X"], self.standardize).width
        return np.full(len(self._points(chain, X)), -np.log(width).sum())

    def _points(self, chain: Chain, X: ArrayLike) -> NDArray[np.float64]:
        points, seen = as_data(X), chain.inputs["X"]
        if points.shape[1] != seen.shape[1]:
            raise ValueError(
                f"X has {points.shape[1]} features, but {type(self).__name__} is expecting "
                f"{seen.shape[1]} features as input"
            )
        return scaling(seen, self.standardize).apply(points)

    def _new_scores(self, chain: Chain, X: Any) -> Iterator[NewScores]:
        points, n_items = self._points(chain, X), chain.n_items
        sampler = self._sampler(chain.inputs["X"], 0, 0, np.zeros(n_items, np.uint32), n_items + 1)
        for index, draw, alpha, weight in self._draws_with_weights(chain):
            scores = sampler.score_new(draw, alpha, self._grid_place(chain, index), points)
            yield NewScores(scores, draw, weight)

    def _grid_place(self, chain: Chain, index: tuple[int, ...]) -> list[int]:
        if self.hyperprior is None:
            return [0, 0, 0]
        grids = self.hyperprior.grids(chain.inputs["X"].shape[1])
        names = ("kappa0", "nu0", "spread")
        return [int(np.abs(grid - chain.stats[name][index]).argmin()) for grid, name in zip(grids, names, strict=True)]

    def draw_means(self, chain: Chain, *, rng: Any = None) -> NDArray[np.float64]:
        """The mean of the cluster of each item in each draw: (chains, draws, items, dimensions).

        It is drawn from its posterior given the data and the partition; `cluster_parameters` summarises the draws.
        """
        from partita.models.mixtures.cluster_means import draw_means

        return draw_means(self, chain, rng)

    def _count_features(self, X: Any) -> int:
        return int(as_data(X).shape[1])


_BASE_ARGUMENTS = {"full": ("kappa0", "nu0", "scale", "hyperprior"), "diag": ("c", "a", "b")}


def _check_base_arguments(model: GaussianDPM) -> None:
    """Raises an error for arguments of the other covariance, which would be ignored."""
    for covariance, names in _BASE_ARGUMENTS.items():
        for name in names:
            if covariance != model.covariance and getattr(model, name) is not None:
                raise ValueError(
                    f"{name} is for covariance={covariance!r}, but covariance is {model.covariance!r}, "
                    f"which takes mu0, {', '.join(_BASE_ARGUMENTS[model.covariance])}"
                )


def as_data(X: Any, name: str = "X") -> NDArray[np.float64]:
    """A C-ordered (items, dimensions) array of finite floats.

    One-dimensional input raises an error, since it may be one item or one variable.

    >>> as_data([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    if hasattr(X, "toarray"):
        raise TypeError(f"{name} is sparse; pass a dense array, for instance {name}.toarray()")
    try:
        array = np.asarray(X)
        if np.iscomplexobj(array):
            raise ValueError(f"Complex data not supported: {name} has type {array.dtype}")
        values = np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        if "Complex" in str(error):
            raise
        raise type(error)(f"{name} must be numbers: {error}") from error
    _check_shape(values, name)
    _check_finite(values, name)
    return values


def _check_shape(values: NDArray[np.float64], name: str) -> None:
    if values.ndim != 2:
        raise ValueError(
            f"{name} must have 2 dimensions (items, variables) but has {values.ndim}. Reshape your data: "
            f"{name}.reshape(-1, 1) if it is one variable, {name}.reshape(1, -1) if it is one item"
        )
    items, variables = values.shape
    if items == 0:
        raise ValueError(f"{name} has 0 item(s) (shape={values.shape}) while a minimum of 1 is required.")
    if variables == 0:
        raise ValueError(f"{name} has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required.")


def _check_finite(values: NDArray[np.float64], name: str) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if len(bad) == 0:
        return
    row, column = bad[0]
    value = values[row, column]
    what = "missing values (NaN) are not modelled" if np.isnan(value) else "infinity (inf) has no density"
    other = ", or use MixtureDPM (partita cluster), which models tables with missing values" if np.isnan(value) else ""
    raise ValueError(
        f"{name} has {value} at row {row}, column {column}: {what}; "
        f"drop the rows of the {len(bad)} such entries, or fill them{other}"
    )
