"""Every formula of the papers in plain Python: slow, obvious, and independent of the package.

Each function is the definition it cites, not the form that is quick to compute: Binder's loss and the Rand
family count pairs of items, entropies sum over clusters; meets, joins and best estimates are looked up among
all partitions. `truth` comes before `estimate`; a label of −1 is a gap. Logarithms are base 2; 0·log 0 = 0.

Papers: SALSO (Dahl, Johnson & Müller 2022), R&F (Rastelli & Friel 2018), W&G (Wade & Ghahramani 2018),
C&L (Côme & Latouche 2015), NBCE (Wang, Domeniconi & Laskey 2010).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, permutations
from math import comb, log2

import numpy as np

GAP = -1

Labels = Sequence[int]
Loss = Callable[[Labels, Labels], float]


# --- partitions -----------------------------------------------------------------------------------


def canonical(labels: Sequence) -> tuple[int, ...]:
    """Labels 0, 1, ... in order of first appearance (Strehl & Ghosh, in R&F Section 5)."""
    names: dict = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def clusters(labels: Sequence) -> list[list[int]]:
    """The clusters as lists of items, in order of first appearance."""
    canon = canonical(labels)
    return [[item for item, label in enumerate(canon) if label == k] for k in range(len(set(canon)))]


def enumerate_partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Every partition of n items once: the last item joins a cluster of a smaller one, or stands alone."""
    if n == 0:
        yield ()
        return
    for smaller in enumerate_partitions(n - 1):
        for label in range(max(smaller, default=-1) + 2):
            yield (*smaller, label)


def stirling2(n: int, k: int) -> int:
    """S(n, k) = k·S(n−1, k) + S(n−1, k−1)."""
    if n == 0 or k == 0:
        return int(n == k)
    return k * stirling2(n - 1, k) + stirling2(n - 1, k - 1)


def bell(n: int) -> int:
    """B(n+1) = Σ_k C(n, k) B(k)."""
    numbers = [1]
    for m in range(n):
        numbers.append(sum(comb(m, k) * numbers[k] for k in range(m + 1)))
    return numbers[n]


def refines(x: Labels, y: Labels) -> bool:
    """x ≤ y: every cluster of x lies inside a cluster of y (W&G Section 3)."""
    return all(any(set(c) <= set(d) for d in clusters(y)) for c in clusters(x))


@cache
def all_partitions(n: int) -> tuple[tuple[int, ...], ...]:
    return tuple(enumerate_partitions(n))


def covers(x: Labels, y: Labels) -> bool:
    """y < x, and no partition lies strictly between them (W&G Section 3)."""
    x, y = canonical(x), canonical(y)

    def below(u: Labels, v: Labels) -> bool:
        return u != v and refines(u, v)

    return below(y, x) and not any(below(y, z) and below(z, x) for z in all_partitions(len(x)))


def meet(x: Labels, y: Labels) -> tuple[int, ...]:
    """The greatest lower bound: the lower bound that every lower bound refines."""
    lower = [z for z in all_partitions(len(x)) if refines(z, x) and refines(z, y)]
    return next(z for z in lower if all(refines(other, z) for other in lower))


def join(x: Labels, y: Labels) -> tuple[int, ...]:
    """The least upper bound: the upper bound that refines every upper bound."""
    upper = [z for z in all_partitions(len(x)) if refines(x, z) and refines(y, z)]
    return next(z for z in upper if all(refines(z, other) for other in upper))


# --- counts ---------------------------------------------------------------------------------------


def contingency(truth: Labels, estimate: Labels) -> np.ndarray:
    """n_ij = |S_i ∩ T_j|: rows are clusters of the truth, columns of the estimate (SALSO Table 1)."""
    rows, columns = clusters(truth), clusters(estimate)
    return np.array([[len(set(s) & set(t)) for t in columns] for s in rows])


def pair_counts(truth: Labels, estimate: Labels) -> tuple[int, int, int, int]:
    """Pairs together in both, together in the truth only, in the estimate only, in neither."""
    both = only_truth = only_estimate = neither = 0
    for i, j in combinations(range(len(truth)), 2):
        in_truth, in_estimate = truth[i] == truth[j], estimate[i] == estimate[j]
        both += in_truth and in_estimate
        only_truth += in_truth and not in_estimate
        only_estimate += in_estimate and not in_truth
        neither += not in_truth and not in_estimate
    return both, only_truth, only_estimate, neither


def entropy(labels: Sequence) -> float:
    """H(ρ) = −Σ_S |S|/n log2(|S|/n) (SALSO eq. 7)."""
    n = len(labels)
    return -sum(size / n * log2(size / n) for size in Counter(labels).values())


def joint_entropy(truth: Labels, estimate: Labels) -> float:
    """H(ρ, ρ̂), the entropy of the pair of labels (SALSO eq. 7)."""
    return entropy(list(zip(truth, estimate, strict=True)))


def information(truth: Labels, estimate: Labels) -> float:
    """I(ρ, ρ̂) = H(ρ) + H(ρ̂) − H(ρ, ρ̂) (SALSO eq. 7)."""
    return entropy(truth) + entropy(estimate) - joint_entropy(truth, estimate)


def same(x: Sequence, y: Sequence) -> bool:
    return canonical(x) == canonical(y)


# --- losses ---------------------------------------------------------------------------------------


def binder(truth: Labels, estimate: Labels, a: float = 1.0, b: float = 1.0) -> float:
    """2/n² Σ_{i<j} a·1{c_i = c_j, ĉ_i ≠ ĉ_j} + b·1{c_i ≠ c_j, ĉ_i = ĉ_j} (SALSO eq. 3 and Definition 1)."""
    _, split, joined, _ = pair_counts(truth, estimate)
    return 2.0 / len(truth) ** 2 * (a * split + b * joined)


def vi(truth: Labels, estimate: Labels, a: float = 1.0, b: float = 1.0) -> float:
    """b·H(ρ) + a·H(ρ̂) − (a + b)·I(ρ, ρ̂) (SALSO eq. 12)."""
    return b * entropy(truth) + a * entropy(estimate) - (a + b) * information(truth, estimate)


def nvi(truth: Labels, estimate: Labels) -> float:
    """1 − I/H(ρ, ρ̂) (R&F eq. 15); 0 where both are one cluster."""
    return 0.0 if same(truth, estimate) else 1 - information(truth, estimate) / joint_entropy(truth, estimate)


def info_distance(truth: Labels, estimate: Labels) -> float:
    """max{H(ρ), H(ρ̂)} − I (SALSO Section 2.2)."""
    return max(entropy(truth), entropy(estimate)) - information(truth, estimate)


def nid(truth: Labels, estimate: Labels) -> float:
    """1 − I/max{H(ρ), H(ρ̂)} (R&F eq. 16); 0 where both are one cluster."""
    if same(truth, estimate):
        return 0.0
    return 1 - information(truth, estimate) / max(entropy(truth), entropy(estimate))


def adjusted_rand(truth: Labels, estimate: Labels) -> float:
    """(both − expected) / (mean − expected) in pairs (SALSO eq. 5); 1 for equal partitions, even at 0/0."""
    if same(truth, estimate):
        return 1.0
    both, only_truth, only_estimate, neither = pair_counts(truth, estimate)
    in_truth, in_estimate = both + only_truth, both + only_estimate
    expected = in_truth * in_estimate / (both + only_truth + only_estimate + neither)
    return (both - expected) / ((in_truth + in_estimate) / 2 - expected)


def omari(truth: Labels, estimate: Labels) -> float:
    """1 − ARI (SALSO Section 2.1)."""
    return 1 - adjusted_rand(truth, estimate)


def zero_one(truth: Labels, estimate: Labels) -> float:
    """1{ρ ≠ ρ̂} (R&F eq. 5)."""
    return float(not same(truth, estimate))


LOSSES: dict[str, Loss] = {
    "binder": binder,
    "vi": vi,
    "nvi": nvi,
    "id": info_distance,
    "nid": nid,
    "omari": omari,
    "zero-one": zero_one,
}


def family(f1: Callable, f2: Callable, f3: Callable, f0: Callable) -> Loss:
    """f0(Σ_gh f1(n_gh), Σ_g f2(n_g), Σ_h f3(n_h)) (R&F eq. 7): f2 on the estimate's sizes, f3 on the draw's.

    The double sum runs over every cell of the table, empty ones too, as the equation is printed.
    """

    def loss(truth: Labels, estimate: Labels) -> float:
        table = contingency(truth, estimate)
        joint = sum(f1(int(count)) for count in table.ravel())
        return f0(joint, sum(f2(int(m)) for m in table.sum(axis=0)), sum(f3(int(m)) for m in table.sum(axis=1)))

    return loss


# --- samples of draws -----------------------------------------------------------------------------


def weights_of(draws: Sequence, weights: Sequence[float] | None) -> np.ndarray:
    """Weights that sum to 1; equal ones when none are given (R&F eq. 21 with 1/T)."""
    raw = np.ones(len(draws)) if weights is None else np.asarray(weights, dtype=float)
    return raw / raw.sum()


def distances(estimate: Labels, draws: Sequence[Labels], loss: Loss) -> list[float]:
    """The loss of the estimate for each draw; a draw speaks only of the items that it labels."""
    values = []
    for draw in draws:
        known = [item for item, label in enumerate(draw) if label != GAP]
        values.append(loss([draw[i] for i in known], [estimate[i] for i in known]))
    return values


def expected_loss(
    estimate: Labels, draws: Sequence[Labels], loss: Loss, weights: Sequence[float] | None = None
) -> float:
    """Σ_t w_t L(draw t, estimate) (SALSO eq. 2)."""
    return float(np.dot(weights_of(draws, weights), distances(estimate, draws, loss)))


def best_estimates(
    draws: Sequence[Labels],
    loss: Loss,
    weights: Sequence[float] | None = None,
    max_clusters: int | None = None,
) -> tuple[float, list[tuple[int, ...]]]:
    """The least expected loss over all partitions, and the partitions that reach it (to 1e-12)."""
    n = len(draws[0])
    allowed = [c for c in all_partitions(n) if max_clusters is None or max(c) < max_clusters]
    values = [expected_loss(c, draws, loss, weights) for c in allowed]
    least = min(values)
    return least, [c for c, value in zip(allowed, values, strict=True) if value <= least + 1e-12]


def similarity(draws: Sequence[Labels], weights: Sequence[float] | None = None) -> np.ndarray:
    """π_ij = Pr(c_i = c_j) among the draws that label both i and j; NaN where none does."""
    n = len(draws[0])
    w = weights_of(draws, weights)
    matrix = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            speak = [t for t, draw in enumerate(draws) if draw[i] != GAP and draw[j] != GAP]
            mass = sum(w[t] for t in speak)
            if mass > 0:
                matrix[i, j] = sum(w[t] for t in speak if draws[t][i] == draws[t][j]) / mass
    return matrix


# --- criteria on the similarity matrix ------------------------------------------------------------


def vi_lower_bound(estimate: Labels, psm: np.ndarray) -> float:
    """(1/n) Σ_i [log2 |Ĉ_i| − 2 log2 Σ_j π_ij 1{ĉ_j = ĉ_i}]: W&G eq. 4 divided by n, in bits.

    The mean of log2 of the draws' own cluster sizes is left out: it is not negative and does not depend on
    the estimate, so this is a lower bound without it and a higher one with it (`own_term`).
    """
    n = len(estimate)
    total = 0.0
    for i in range(n):
        mates = [j for j in range(n) if estimate[j] == estimate[i]]
        total += log2(len(mates)) - 2 * log2(sum(psm[i, j] for j in mates))
    return total / n


def own_term(draws: Sequence[Labels], weights: Sequence[float] | None = None) -> float:
    """Σ_t w_t (1/n) Σ_i log2 |T_i^t|: the part of the expected VI that `vi_lower_bound` leaves out."""
    values = [sum(log2(Counter(draw)[label]) for label in draw) / len(draw) for draw in draws]
    return float(np.dot(weights_of(draws, weights), values))


def lau_green(estimate: Labels, psm: np.ndarray, a: float = 1.0, b: float = 1.0) -> float:
    """Σ_{i<j} 1{ĉ_i = ĉ_j} (π_ij − b/(a + b)), to be maximised (SALSO Section 2.1)."""
    pairs = combinations(range(len(estimate)), 2)
    return float(sum(psm[i, j] - b / (a + b) for i, j in pairs if estimate[i] == estimate[j]))


def pear(estimate: Labels, psm: np.ndarray) -> float:
    """The posterior expected adjusted Rand index, approximately (SALSO eq. 6); 1 where it is 0/0."""
    pairs = list(combinations(range(len(estimate)), 2))
    both = sum(psm[i, j] for i, j in pairs if estimate[i] == estimate[j])
    in_estimate = sum(estimate[i] == estimate[j] for i, j in pairs)
    in_draws = sum(psm[i, j] for i, j in pairs)
    expected = in_estimate * in_draws / len(pairs) if pairs else 0.0
    spread = (in_estimate + in_draws) / 2 - expected
    return 1.0 if spread == 0 else float((both - expected) / spread)


# --- agreement with a truth -----------------------------------------------------------------------


def nmi(x: Labels, y: Labels) -> float:
    """I / max{H(x), H(y)} (C&L eq. 5); 1 where both are one cluster."""
    return 1 - nid(x, y)


def f1(estimate: Labels, truth: Labels) -> float:
    """The harmonic mean of P and R (NBCE Section 6).

    P is the average over the clusters A_i of the estimate of max_j |A_i ∩ B_j| / |A_i|, and R the average of
    max_j |A_i ∩ B_j| / |B_j|. The paper sums i to the number of truth clusters and divides by that of the
    estimate; the evident reading is used.
    """
    estimated, true = clusters(estimate), clusters(truth)
    precision = np.mean([max(len(set(a) & set(b)) / len(a) for b in true) for a in estimated])
    recall = np.mean([max(len(set(a) & set(b)) / len(b) for b in true) for a in estimated])
    return float(2 * precision * recall / (precision + recall))


def best_overlap(x: Labels, y: Labels) -> int:
    """The most items that can carry the same label in x and in a renaming of y, over all renamings."""
    table = contingency(x, y)
    side = max(table.shape)
    square = np.zeros((side, side), dtype=int)
    square[: table.shape[0], : table.shape[1]] = table
    return max(int(sum(square[i, p[i]] for i in range(side))) for p in permutations(range(side)))
