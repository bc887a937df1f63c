"""R-hat and the effective sample size of several chains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats


def convergence(values: Floats) -> tuple[Floats, Floats]:
    """R-hat and bulk effective sample size of each summary of a (summary, chain, draw) array of at least four draws.

    R-hat is split and rank-normalised: the larger of that of the values and that of their distances to the median; 1
    for constant values, infinite for chains that are each constant but differ. The effective sample size is that of
    Geyer's initial monotone sequence: the number of values if they are constant; one per chain if each chain is
    constant but they differ.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and localization.
    """
    folded = np.abs(values - np.median(values, axis=(1, 2), keepdims=True))
    scores = _normal_scores(_halves(np.concatenate([values, folded])))
    return _r_hats(scores), _effective_sizes(values, scores[: len(values)])


def effective_sample_size(values: Floats) -> float:
    """Bulk effective sample size of a (chain, draw) array."""
    if values.shape[1] < 2:
        return float(values.size)
    return float(_effective_sizes(values[None], _normal_scores(_halves(values[None])))[0])


def _halves(values: Floats) -> Floats:
    """Every chain as two, its halves; an odd draw between them is left out."""
    length = values.shape[2]
    half = length // 2
    return np.concatenate([values[:, :, :half], values[:, :, length - half :]], axis=1)


def _normal_scores(values: Floats) -> Floats:
    """Ranks among all draws of a summary, ties at their mean, as quantiles of the normal distribution."""
    from scipy.special import ndtri

    flat = values.reshape(len(values), -1)
    order = flat.argsort(axis=1)
    ordered = np.take_along_axis(flat, order, axis=1)
    new = np.ones(flat.shape, dtype=bool)  # where a run of equal values begins, in the concatenated rows
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=new[:, 1:])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], new.size)
    ranks = (starts % flat.shape[1]) + (ends - starts + 1) / 2
    scores = np.empty_like(flat)
    by_run = ndtri((ranks - 0.375) / (flat.shape[1] + 0.25))
    np.put_along_axis(scores, order, np.repeat(by_run, ends - starts).reshape(flat.shape), axis=1)
    return scores.reshape(values.shape)


def _r_hats(scores: Floats) -> Floats:
    """From the scores of values and of folded values; the larger of the two counts."""
    length = scores.shape[2]
    within = scores.var(axis=2, ddof=1).mean(axis=1)
    between = length * scores.mean(axis=2).var(axis=1, ddof=1)
    constant = _each_constant(scores)
    ratio = np.divide(between, within, out=np.zeros_like(within), where=~constant)
    found = np.sqrt((ratio + length - 1) / length)
    found[constant] = np.where(np.ptp(scores[constant], axis=(1, 2)) == 0, 1.0, np.inf)
    return np.asarray(found.reshape(2, -1).max(axis=0))


def _effective_sizes(values: Floats, scores: Floats) -> Floats:
    chains, length = scores.shape[1:]
    sizes = np.full(len(values), float(values[0].size))
    if length < 4:
        return sizes
    constant = _each_constant(scores)
    varied = np.ptp(values, axis=(1, 2)) != 0
    sizes[constant & varied] = values.shape[1]
    moving = varied & ~constant
    if moving.any():
        sizes[moving] = chains * length / _autocorrelation_times(scores[moving])
    return sizes


def _autocorrelation_times(scores: Floats) -> Floats:
    """1 + 2 Σ of the autocorrelations, as long as their sums in pairs are positive, and made to fall."""
    chains, length = scores.shape[1:]
    within = scores.var(axis=2, ddof=1).mean(axis=1)
    between = scores.mean(axis=2).var(axis=1, ddof=1) if chains > 1 else 0.0
    total = within * (length - 1) / length + between
    covariance = _autocovariance(scores).mean(axis=1) * (length / (length - 1))
    correlation = 1 - (within[:, None] - covariance) / total[:, None]
    correlation[:, 0] = 1.0
    pairs = correlation[:, : length // 2 * 2].reshape(len(scores), -1, 2).sum(axis=2)
    pairs[np.logical_or.accumulate(pairs < 0, axis=1)] = 0.0
    time = -1 + 2 * np.minimum.accumulate(pairs, axis=1).sum(axis=1)
    return np.asarray(np.maximum(time, 1 / np.log10(chains * length)))


def _autocovariance(scores: Floats) -> Floats:
    """Of each chain at every lag, through the spectrum."""
    length = scores.shape[2]
    spectrum = np.fft.rfft(scores - scores.mean(axis=2, keepdims=True), 2 * length)
    squared = spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.fft.irfft(squared, 2 * length)[:, :, :length] / length)


def _each_constant(scores: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.ptp(scores, axis=2).any(axis=1))
