"""No draw is better than the estimate, also where comparing all of them would take longer than the search."""

from __future__ import annotations

import numpy as np
import pytest

from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import expected_loss
from partita.losses.losses import VI, as_loss
from partita.partitions.labels import canonical
from partita.search import draws as search_draws
from partita.search.result import SearchResult
from partita.search.settings import Search


@pytest.mark.parametrize("seed", [4, 7, 29, 66])
@pytest.mark.parametrize("loss", ["nvi", "omari"])
def test_one_run_is_no_worse_than_any_of_many_draws(seed, loss):
    """Draws around several dissimilar partitions: a single run often ended above the best of them."""
    rng = np.random.default_rng(seed)
    n, h, k = (int(rng.integers(*bounds)) for bounds in ((12, 40), (130, 200), (2, 8)))
    centres = [rng.integers(k, size=n) for _ in range(int(rng.integers(2, 6)))]
    rows = [
        np.where(rng.random(n) < 0.1, rng.integers(k, size=n), centres[rng.integers(len(centres))]) for _ in range(h)
    ]
    sample = as_sample(rows)
    assert sample.n_unique**2 * n > search_draws.FEW_LABELS
    best = estimate(sample, loss, search=Search(runs=1), rng=seed, check_draws=False)
    assert best.expected_loss <= expected_loss(sample, sample, loss).min() + 1e-9


def test_very_many_draws_are_not_compared(monkeypatch):
    """A partition that is far from all draws stands for a bad search of few runs."""
    rng = np.random.default_rng(2)
    centre = rng.integers(4, size=30)
    sample = as_sample(np.where(rng.random((80, 30)) < 0.15, rng.integers(4, size=(80, 30)), centre))
    bad = SearchResult(canonical(rng.integers(9, size=30)))
    monkeypatch.setattr(search_draws, "FEW_LABELS", 0)
    for loss in (as_loss("vi"), VI(0.5, 1)):
        found = search_draws.no_worse_than_draws(bad, sample, loss, Search())
        least = expected_loss(sample, sample, loss).min()
        assert (expected_loss(found.labels, sample, loss) == pytest.approx(least)) == loss.is_distance
    monkeypatch.setattr(search_draws, "MANY_LABELS", 1)
    assert search_draws.no_worse_than_draws(bad, sample, as_loss("vi"), Search()) is bad
