"""Each extra in a clean environment of its own: what it is for works with it.

`python tools/check_extras.py dist/partita-….whl [extra ...]`. The core's smoke test runs without any extra.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_wheel import new_python

SETUP = """
import numpy as np, partita as pt
from partita.datasets import load_karate, make_draws
draws = make_draws(n_items=40, n_draws=200, n_clusters=3, rng=1)
best = pt.estimate(draws, rng=1)
"""
#: What a user installs the extra for.
USES = {
    "": "print(best, pt.credible_ball(best))",
    "arviz": "chain = pt.models.GaussianDPM().sample(np.eye(6), draws=20, chains=2, rng=1)\n"
    "assert pt.as_sample(chain.to_arviz(), variable='labels').n_draws == 40\n"
    "pt.write_draws('draws.nc', draws); assert pt.read_draws('draws.nc').n_draws == 200",
    "plot": "pt.plots.similarity_map(pt.similarity(draws), best.labels).figure.savefig('psm.png')",
    "report": "pt.report(best, pt.credible_ball(best), path='report.html')",
    "graph": "import networkx\nsbm = pt.models.StochasticBlockModel(directed=False)\n"
    "assert sbm.maximize(networkx.karate_club_graph(), rng=1).n_clusters > 1\n"
    "pt.models.louvain(load_karate().data, rng=1)",
    "ensembles": "X = np.random.default_rng(1).normal(size=(60, 2)) + np.repeat([[0], [8]], 30, axis=0)\n"
    "base = pt.ensembles.kmeans_ensemble(X, 2, rng=1)\n"
    "for method in (pt.ensembles.cspa, pt.ensembles.mcla): assert len(set(method(base, 2))) == 2",
    "hgpa": "assert len(set(pt.ensembles.hgpa(np.repeat([[0, 1], [2, 0]], 20, axis=0), 2, rng=1))) == 2",
    "exact": "assert pt.estimate(draws, 'binder', method='exact').proven",
    "io": "for name in ('d.parquet', 'd.zarr'):\n    pt.write_draws(name, draws)\n"
    "    assert pt.read_draws(name).n_draws == 200\nbest.to_pandas()",
    "r": "import rdata\nrdata.write_rds('d.rds', draws)\nassert pt.read_draws('d.rds').n_draws == 200",
    "dask": "from dask.distributed import Client\n"
    "base = np.repeat([[0, 1], [2, 0]], 20, axis=0)\n"
    "with Client(processes=False, dashboard_address=None) as client:\n"
    "    parts = [base[:20], base[20:]]\n"
    "    model = pt.ensembles.NBCE('vb', truncation=5, restarts=2, random_state=1)\n"
    "    assert pt.ensembles.fit_distributed(model, parts, split='rows', client=client).n_clusters_ == 2",
}
USES["all"] = "\n".join(USES[name] for name in ("plot", "report", "exact", "io"))


def check(wheel: Path, extra: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        python = new_python(Path(folder) / "env", with_pip=False)
        wanted = f"partita[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
        subprocess.run([*pip, wanted], check=True)
        subprocess.run([str(python), "-c", SETUP + USES[extra]], check=True, cwd=folder, stdout=subprocess.DEVNULL)


def main() -> None:
    wheel = Path(sys.argv[1]).resolve()
    failed = []
    for extra in sys.argv[2:] or USES:
        begun = time.monotonic()
        try:
            check(wheel, extra)
            verdict = "works"
        except subprocess.CalledProcessError as error:
            verdict = f"FAILS ({error.returncode})"
            failed.append(extra)
        print(f"{extra or 'the core alone':15} {verdict}, {time.monotonic() - begun:.0f} s", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
