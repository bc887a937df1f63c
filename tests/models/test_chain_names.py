"""Names of nodes, rows and items go from the data over the chain and its folder to the estimate and the page."""

import json

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita.models import GaussianDPM, LatentBlockModel, Sampling, StochasticBlockModel, as_graph
from partita.models.chains.checkpoint import open_run

SHORT = {"draws": 6, "warmup": 3, "chains": 2, "rng": 1}
EDGES = [("zoe", "ann"), ("ann", "bob"), ("bob", "zoe"), ("kim", "lee"), ("lee", "kim"), ("zoe", "kim")]
NODES = ("ann", "bob", "kim", "lee", "zoe")


def test_nodes_from_sample_to_the_page(tmp_path):
    model = StochasticBlockModel()
    chain = model.sample(EDGES, **SHORT, path=tmp_path / "run")
    assert chain.names == NODES
    assert open_run(tmp_path / "run").names == NODES
    assert pt.resume(tmp_path / "run").names == NODES
    assert pt.as_sample(chain).names == NODES
    best = pt.estimate(chain, rng=1)
    assert best.to_pandas().index.tolist() == list(NODES)
    page = pt.report(best, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "zoe" in page
    truth = pd.Series([0, 0, 0, 1, 1], index=["zoe", "ann", "bob", "kim", "lee"])
    assert pt.adjusted_rand(truth, best) == pt.adjusted_rand(truth[list(NODES)].to_numpy(), best.labels)


def test_nodes_that_only_count_have_no_names(tmp_path):
    chain = StochasticBlockModel().sample(np.eye(4, k=1, dtype=int), **SHORT, path=tmp_path / "run")
    assert chain.names is None
    assert pt.resume(tmp_path / "run").names is None
    assert StochasticBlockModel().sample([(10, 20), (20, 30)], **SHORT).names == ("10", "20", "30")


def test_a_run_without_names_is_still_read(tmp_path):
    """Runs of the first release say nothing of names."""
    chain = StochasticBlockModel().sample(np.eye(4, k=1, dtype=int), **SHORT, path=tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    body = json.loads(manifest.read_bytes())["body"]
    del body["names"]
    from partita.models.chains.checkpoint import _write_json

    _write_json(manifest, body)
    assert (pt.resume(tmp_path / "run").labels == chain.labels).all()


def test_rows_and_columns_of_a_matrix(tmp_path):
    matrix = pd.DataFrame(np.kron(np.eye(2, dtype=int), np.ones((3, 2), int)))
    matrix = matrix.set_axis(list("abcdef")).set_axis(list("wxyz"), axis=1)
    chain = LatentBlockModel().sample(matrix, **SHORT, path=tmp_path / "run")
    for found in (chain, pt.resume(tmp_path / "run")):
        assert found.names == tuple("abcdef")
        assert found.column_names == tuple("wxyz")
    assert pt.as_sample(chain).names == tuple("abcdef")
    half = LatentBlockModel().sample(matrix.reset_index(drop=True), **SHORT)
    assert half.names is None
    assert half.column_names == tuple("wxyz")


def test_rows_of_a_data_frame(tmp_path):
    frame = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1]}, index=["a", "b", "c", "d"])
    chain = GaussianDPM().sample(frame, **SHORT, path=tmp_path / "run")
    assert chain.names == pt.resume(tmp_path / "run").names == tuple("abcd")
    assert (chain.labels == GaussianDPM().sample(frame.to_numpy(), **SHORT).labels).all()
    model = GaussianDPM(sampling=Sampling(draws=6, warmup=3, chains=1), random_state=1).fit(frame)
    assert model.estimate_.sample.names == tuple("abcd")
    assert GaussianDPM().sample(frame.reset_index(drop=True), **SHORT).names is None


def test_items_of_an_ensemble():
    base = pd.DataFrame({"m1": [0, 0, 1, 1, None], "m2": [0, 0, 0, 1, None]}, index=list("abcde"))
    with pytest.warns(UserWarning, match="without a base label"):
        model = pt.ensembles.NBCE(sampling=pt.models.Sampling(draws=5, warmup=2, chains=1), random_state=1).fit(base)
    assert model.chain_.names == tuple("abcd")  # the last has no label, and is in no draw
    weights = pd.Series({"m2": 1.0, "m1": 9.0})
    found = pt.ensembles.consensus(base.dropna(), weights=weights, rng=1)
    assert found.tolist() == [0, 0, 1, 1]
    assert found.tolist() == pt.ensembles.consensus(base.dropna().to_numpy(), weights=[9, 1], rng=1).tolist()
    with pytest.raises(ValueError, match="not in weights: 'm1'; not in base: 'm3'"):
        pt.ensembles.consensus(base.dropna(), weights=weights.rename({"m1": "m3"}))


def test_names_leave_with_the_chain():
    pytest.importorskip("arviz")
    chain = StochasticBlockModel().sample(EDGES, **SHORT)
    assert chain.to_xarray()["item"].values.tolist() == list(NODES)
    assert pt.as_sample(chain.to_xarray()).names == NODES
    assert pt.as_sample(chain.to_arviz(), variable="labels").names == NODES


def test_chains_of_workers_have_names():
    pytest.importorskip("distributed")
    from distributed import Client

    matrix = pd.DataFrame(np.kron(np.eye(2, dtype=int), np.ones((3, 2), int)), index=list("abcdef"))
    with Client(processes=False, n_workers=1, dashboard_address=":0", set_as_default=False) as client:
        chain = pt.distributed.sample_chains(LatentBlockModel(), matrix, chains=2, draws=4, rng=1, client=client)
    assert chain.names == tuple("abcdef")
    assert chain.labels.shape == (2, 4, 6)
    assert chain.columns.shape == (2, 4, 4)


def test_labels_of_nodes_are_matched_by_name():
    graph = as_graph(EDGES)
    labels = pd.Series([0, 0, 1, 1, 0], index=NODES)
    model = StochasticBlockModel()
    assert model.icl(graph, labels[::-1]) == model.icl(graph, labels.to_numpy())
    fit = model.maximize(graph, starts=[labels[::-1]], restarts=1, rng=1)
    assert fit.labels.shape == (5,)
    with pytest.raises(ValueError, match="not in labels: 'zoe'"):
        model.icl(graph, labels.drop("zoe"))
    with pytest.raises(ValueError, match=r"labels must have 5 labels, as the graph has, but its shape is \(4,\)"):
        model.icl(graph, [0, 0, 1, 1])
    matrix = pd.DataFrame([[1, 0, 1], [0, 1, 1]], index=["r", "s"], columns=list("xyz"))
    rows, columns = pd.Series({"s": 1, "r": 0}), pd.Series({"z": 1, "y": 0, "x": 0})
    assert LatentBlockModel().icl(matrix, rows, columns) == LatentBlockModel().icl(matrix, [0, 1], [0, 0, 1])
