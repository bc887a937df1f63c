"""Whether an installed partita works, with the core's dependencies only; cibuildwheel and check_wheel.py run it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import partita as pt
from partita.datasets import load_karate, make_draws


def main() -> None:
    draws = make_draws(n_items=50, n_draws=300, n_clusters=4, rng=1)
    for loss in pt.losses.LOSSES:
        best = pt.estimate(draws, loss, rng=1)
        assert np.isclose(best.expected_loss, pt.expected_loss(best.labels, draws, loss)), loss
        assert best.expected_loss <= pt.estimate(draws, loss, method="draws").expected_loss + 1e-12, loss
    best = pt.estimate(draws, rng=1)
    assert pt.credible_ball(best, level=0.9).mass >= 0.9 - 1e-9
    assert pt.similarity(draws).shape == (50, 50)

    chain = pt.models.GaussianDPM().sample(np.r_[np.zeros((10, 2)), np.ones((10, 2)) * 9], draws=50, chains=2, rng=1)
    assert pt.estimate(chain, rng=1).n_clusters == 2
    assert pt.models.StochasticBlockModel(directed=False).maximize(load_karate().data, rng=1).n_clusters > 1
    assert pt.ensembles.consensus([[0, 0], [0, 0], [1, 1], [1, -1]], rng=1).tolist() == [0, 0, 1, 1]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draws.csv"
        pt.write_draws(path, draws)
        command = [sys.executable, "-m", "partita", "estimate", str(path), "--json", "--seed", "1"]
        answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert answer["n_clusters"] == best.n_clusters
    print(f"partita {pt.__version__} works: {pt.__file__}")


if __name__ == "__main__":
    main()
