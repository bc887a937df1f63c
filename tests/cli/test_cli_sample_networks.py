"""`partita sample sbm` and `partita sample lbm`."""

import numpy as np
import pytest
from typer.testing import CliRunner

from partita.cli.sample import app
from partita.draws.io import read_draws
from partita.models import LatentBlockModel, StochasticBlockModel, as_graph

EDGES = "source{0}target\na{0}b\nb{0}c\na{0}c\nd{0}e\ne{0}f\nd{0}f\nc{0}d\n"
PLAN = ["--draws", "10", "--warmup", "5", "--chains", "2", "--seed", "3"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_sbm_draws_are_those_of_python_with_names(tmp_path, separator):
    path, run = tmp_path / "edges.csv", tmp_path / "run"
    path.write_text(EDGES.format(separator))
    result = CliRunner().invoke(app, ["sbm", str(path), "--undirected", "--out", str(run), *PLAN])
    assert result.exit_code == 0, result.output
    assert "undirected network, 6 nodes" in result.output
    chain = StochasticBlockModel(directed=False).sample(as_graph(path, directed=False), 10, 5, chains=2, rng=3)
    assert (np.load(run / "draws.npy") == chain.labels).all()
    assert read_draws(run).names == ("a", "b", "c", "d", "e", "f")
    again = CliRunner().invoke(app, ["sbm", str(path), "--undirected", "--out", str(run), "--resume", "--loops"])
    assert again.exit_code != 0


def test_a_run_goes_on_only_with_the_weights_it_began_with(tmp_path):
    path, run = tmp_path / "edges.csv", tmp_path / "run"
    path.write_text("source,target,weight\na,b,1\nb,c,-1\na,c,1\nc,d,-1\n")
    begun = CliRunner().invoke(app, ["sbm", str(path), "--weights", "signed", "--out", str(run), *PLAN])
    assert begun.exit_code == 0, begun.output
    chain = StochasticBlockModel(edges="signed").sample(as_graph(path, edges="signed"), 10, 5, chains=2, rng=3)
    assert (np.load(run / "draws.npy") == chain.labels).all()
    other = CliRunner().invoke(app, ["sbm", str(path), "--weights", "real", "--out", str(run), "--resume"])
    assert other.exit_code == 2
    assert f"--weights: the run in {run} began with signed" in " ".join(other.output.split())


def test_lbm_draws_are_those_of_python(tmp_path):
    path, run = tmp_path / "matrix.csv", tmp_path / "run"
    path.write_text("name,x,y,z\nr1,1,0,1\nr2,1,0,1\nr3,0,1,0\nr4,0,1,0\n")
    result = CliRunner().invoke(app, ["lbm", str(path), "--out", str(run), "--json", *PLAN])
    assert result.exit_code == 0, result.output
    X = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [0, 1, 0]])
    chain = LatentBlockModel().sample(X, 10, 5, chains=2, rng=3)
    assert (np.load(run / "draws.npy") == chain.labels).all()
