"""What counts as a network, and what is refused."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from partita.cli import app
from partita.models.networks.base import graph_arrays, graph_from_arrays
from partita.models.networks.core import _both_ways, _without_diagonal
from partita.models.networks.graph import Graph, as_bipartite, as_graph
from partita.models.networks.lbm import LatentBlockModel
from partita.models.networks.sbm import StochasticBlockModel

EDGES = [("a", "b"), ("b", "c"), ("d", "a")]
MATRIX = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=float)


class FakeIgraph:
    """The part of igraph's interface that is used (igraph is GPL: its graphs are accepted, it is not a dependency)."""

    class Names(dict):
        def attributes(self):
            return list(self)

    def __init__(self, weights=None):
        self.vs = self.Names(name=["a", "b", "c", "d"])
        self.es = self.Names() if weights is None else self.Names(weight=weights)

    def is_directed(self):
        return True

    def vcount(self):
        return 4

    def ecount(self):
        return 3

    def get_edgelist(self):
        return [(0, 1), (1, 2), (3, 0)]


def csv_file(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_form_gives_the_same_graph(tmp_path):
    rows = "".join(f"{a},{b}\n" for a, b in EDGES)
    forms = [
        MATRIX,
        MATRIX.astype(int).tolist(),
        np.asfortranarray(MATRIX),
        sp.csr_array(MATRIX),
        sp.coo_matrix(MATRIX),
        nx.DiGraph(EDGES),
        FakeIgraph(),
        EDGES,
        pd.DataFrame(EDGES, columns=["from", "to"]),
        pd.DataFrame(EDGES, columns=["source", "target"])[["target", "source"]],
        csv_file(tmp_path, "source,target\n" + rows),
        str(csv_file(tmp_path, "source,target\n" + rows)),
    ]
    for form in forms:
        assert (as_graph(form).adjacency.toarray() == MATRIX).all()
    assert as_graph(nx.DiGraph(EDGES)).names == ("a", "b", "c", "d")


def test_undirected_edge_lists_are_symmetric_and_duplicates_are_one_edge():
    graph = as_graph([(0, 1), (1, 0), (1, 2)], directed=False)
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    counted = as_graph([(0, 1), (1, 0), (1, 2, 3)], directed=False, counts=True)
    assert counted.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]


def test_weights_are_counts_only_if_asked_for():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=3)
    assert as_graph(graph, columns=("source", "target")).adjacency.data.tolist() == [1]
    assert as_graph(graph, counts=True).adjacency.data.tolist() == [3]
    assert as_graph(FakeIgraph([2, 1, 5]), counts=True).adjacency.toarray()[3, 0] == 5


@pytest.mark.parametrize("kind", ["networkx", "igraph", "csv", "command"])
def test_weights_that_would_be_ignored_are_refused_in_every_form(tmp_path, kind):
    weighted = [(*edge, weight) for edge, weight in zip(EDGES, (2, 1, 5), strict=True)]
    path = csv_file(tmp_path, "source,target,weight\n" + "".join(f"{a},{b},{w}\n" for a, b, w in weighted))
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(weighted)
    if kind == "command":
        answer = CliRunner().invoke(app, ["blockmodel", str(path)])
        assert answer.exit_code == 2
        message = answer.stderr
    else:
        given = {"networkx": graph, "igraph": FakeIgraph([2, 1, 5]), "csv": path}[kind]
        with pytest.raises(ValueError, match="edges are 0 or 1; edges='counts' takes counts") as error:
            StochasticBlockModel().maximize(given)
        message = str(error.value)
    assert "weight 2" in message
    assert "leaves weight out" in message


def test_weights_of_a_graph_may_be_chosen_and_left_out():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=3, calls=7)
    assert as_graph(graph, counts=True, columns=("source", "target", "calls")).adjacency.data.tolist() == [7]
    with pytest.raises(ValueError, match="the edge from a to b has no attribute 'visits'"):
        as_graph(graph, counts=True, columns=("source", "target", "visits"))
    assert as_graph(FakeIgraph([2, 1, 5]), columns=("source", "target")).adjacency.data.tolist() == [1, 1, 1]
    graph.edges["a", "b"]["weight"] = "three"
    with pytest.raises(ValueError, match="'three' in the edge from a to b is not a number"):
        as_graph(graph)


def test_isolated_nodes_are_fine(tmp_path):
    path = csv_file(tmp_path, "source,target\n0,1\n")
    fit = StochasticBlockModel(directed=False).maximize(as_graph(path, directed=False, nodes=range(5)), rng=1)
    assert len(fit.labels) == 5
    assert StochasticBlockModel().maximize(np.zeros((6, 6)), rng=1).n_clusters == 1
    assert StochasticBlockModel().maximize(np.zeros((1, 1)), rng=1).labels.tolist() == [0]


def test_missing_dyads_are_marked():
    X = MATRIX.copy()
    X[0, 2] = np.nan
    graph = as_graph(X)
    assert graph.missing.toarray().astype(bool).tolist() == np.isnan(X).tolist()
    assert graph.adjacency.nnz == 3


@pytest.mark.parametrize(
    ("graph", "directed", "message"),
    [
        (np.zeros((3, 4)), True, "square, but it is 3 x 4"),
        (np.zeros((0, 0)), True, "no nodes"),
        (np.zeros(3), True, "must be a matrix"),
        (np.array([["a", "b"], ["c", "d"]]), True, "numbers"),
        (np.triu(np.ones((3, 3)), 1), False, r"not symmetric at \(0, 1\)"),
        (-MATRIX, True, "-1 at row 0, column 1"),
        (MATRIX * 0.5, True, "0.5 at row 0, column 1"),
        (MATRIX * 2, True, "2 at row 0, column 1"),
        (nx.Graph(EDGES), True, "pass directed=False"),
        (nx.DiGraph(EDGES), False, "pass directed=True"),
    ],
)
def test_bad_graphs_are_refused(graph, directed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        StochasticBlockModel(directed=directed).maximize(graph)


@pytest.mark.parametrize("value", [-1.0, 0.5, np.inf])
def test_counts_are_whole_numbers(value):
    with pytest.raises(ValueError, match="row 0, column 1; entries must be counts"):
        as_graph(MATRIX * value if np.isfinite(value) else np.where(MATRIX > 0, value, 0), counts=True)


def test_loops_need_a_model_with_loops():
    with pytest.raises(ValueError, match="loop at node 2"):
        StochasticBlockModel().maximize(np.diag([0.0, 0, 1]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"edges\.csv is empty"),
        ("source,target\n", "only a header"),
        ("person\nann\nann\n", "edges.csv has one column, person"),
        ("source,target\na,b\nc\n", r"edges\.csv, line 3: 1 cell, but line 2 has 2"),
        ("source,target,weight\na,b,many\n", "weight 'many' in line 2"),
        ("source,target,weight\na,b,1\n\na,b,nan\n", "weight 'nan' in line 4 of edges.csv is not a number"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        as_graph(csv_file(tmp_path, text), counts=True)


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT, " "])
def test_an_end_that_is_not_there_is_no_node(gap):
    table = pd.DataFrame({"source": ["a", gap], "target": ["b", "c"]}, dtype=object)
    with pytest.raises(ValueError, match="row 1 has no source; leave the edge out, or name the node"):
        as_graph(table)
    with pytest.raises(ValueError, match="edge 1 has an end without a name"):
        as_graph([("a", "b"), ("c", gap)])


def test_unknown_and_repeated_nodes_are_refused():
    with pytest.raises(ValueError, match="node 'c' of edge 1 is not in nodes"):
        as_graph(EDGES, nodes=["a", "b"])
    with pytest.raises(ValueError, match="twice"):
        as_graph(EDGES, nodes=["a", "b", "c", "d", "a"])


def test_bipartite_matrices():
    frame = pd.DataFrame([[1, 0], [0, 1], [1, np.nan]], index=list("xyz"), columns=["p", "q"])
    graph = as_bipartite(frame)
    assert (graph.names, graph.column_names) == (("x", "y", "z"), ("p", "q"))
    assert graph.missing.nnz == 1
    with pytest.raises(ValueError, match="LatentBlockModel"):
        StochasticBlockModel().maximize(graph)
    with pytest.raises(ValueError, match="rows and columns"):
        LatentBlockModel().maximize(as_graph(EDGES))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n0": 0}, r"n0 must be a positive number from 1e-100 to 1e\+08, but it is 0"),
        ({"eta0": -1.0}, "eta0"),
        ({"zeta0": float("nan")}, "zeta0"),
        ({"edges": "weights"}, "edges must be"),
        ({"b0": 0.0}, "b0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        StochasticBlockModel(**settings)


def test_bad_arguments_are_refused():
    model = StochasticBlockModel()
    for arguments, message in [
        ({"k_max": 0}, "k_max"),
        ({"restarts": 0}, "restarts"),
        ({"n_jobs": 0}, "n_jobs"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.maximize(MATRIX, **arguments)
    with pytest.raises(ValueError, match=r"labels must have 4 labels, as the graph has, but its shape is \(3,\)"):
        model.icl(MATRIX, [0, 1, 2])
    with pytest.raises(ValueError, match="draws"):
        model.sample(MATRIX, draws=0)
    fit = model.maximize(MATRIX, rng=1)
    with pytest.raises(ValueError, match="9 at row 0, column 1"):
        fit.predict([[0, 9]])
    with pytest.raises(ValueError, match="level"):
        fit.blocks(level=1.5)


@pytest.mark.parametrize(
    "text", ["0,1\n1,2\n", "1,2,1.0\n2,3,1.0\n", "-1,2\n2,3\n", " 1 ,2\n2,3\n", "ann,bob,2\nbob,eve,1\n"]
)
def test_edges_without_a_header_are_not_cut_short(tmp_path, text):
    """The first edge used to be taken for the header."""
    with pytest.raises(ValueError, match=r"edges\.csv, line 1 is .*; (it must be a header, as in|put) source,target"):
        as_graph(csv_file(tmp_path, text))
    weighted = text.split("\n")[0].count(",") == 2
    header = "source,target,weight\n" if weighted else "source,target\n"
    assert as_graph(csv_file(tmp_path, header + text), counts=weighted).adjacency.nnz == 2


def test_words_above_words_may_be_the_first_edge(tmp_path):
    text = "ann,bob\nbob,eve\n"
    with pytest.raises(
        ValueError, match=r"edges\.csv, line 1 is ann, bob: a header, or the first edge; put source,target"
    ):
        as_graph(csv_file(tmp_path, text))
    assert as_graph(csv_file(tmp_path, "source,target\n" + text)).names == ("ann", "bob", "eve")
    assert as_graph(csv_file(tmp_path, "from,to\n" + text)).names == ("ann", "bob", "eve")
    assert as_graph(csv_file(tmp_path, "person,friend\n" + text)).names == ("ann", "bob", "eve")  # no nodes below


def test_words_above_numbers_are_a_header(tmp_path):
    assert as_graph(csv_file(tmp_path, "person,friend\n1,2\n1,-1\n")).names == (-1, 1, 2)
    text = "person,friend,times\nann,bob,2\nann,eve,1\n"
    assert as_graph(csv_file(tmp_path, text), counts=True).names == ("ann", "bob", "eve")


def test_edges_from_a_spreadsheet_and_of_no_text(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(b"\xef\xbb\xbfweight,source,target\n1,a,b\n1,b,c\n")
    assert sorted(as_graph(path).names) == ["a", "b", "c"]
    path.write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match=r"edges\.csv is not a csv file"):
        as_graph(path)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("counts", [True, False])
def test_edge_lists_with_loops_and_repeats_are_the_matrix_they_list(directed, counts):
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 6, (25, 2)).tolist()
    weights = rng.integers(1, 4, 25).tolist() if counts else [1] * 25
    expected = np.zeros((6, 6))
    for (i, j), weight in zip(ends, weights, strict=True):
        expected[i, j] += weight
        if not directed and i != j:
            expected[j, i] += weight
    listed = [(i, j, weight) for (i, j), weight in zip(ends, weights, strict=True)]
    graph = as_graph(listed, directed=directed, counts=counts, nodes=range(6))
    assert (graph.adjacency.toarray() == (expected if counts else expected > 0)).all()
    assert graph.adjacency.has_canonical_format


def test_arrays_for_the_core_are_those_of_the_whole_matrix():
    rng = np.random.default_rng(6)
    matrix = rng.integers(0, 3, (5, 7)).astype(float)
    matrix[rng.random((5, 7)) < 0.2] = np.nan
    graph = as_bipartite(matrix, counts=True)
    assert (graph.adjacency.toarray() == np.nan_to_num(matrix)).all()
    assert (graph.missing.toarray() == np.isnan(matrix)).all()
    whole = np.zeros((12, 12))
    whole[:5, 5:] = np.nan_to_num(matrix)
    assert (_both_ways(graph.adjacency, graph.transposed).toarray() == whole + whole.T).all()
    square = sp.csr_array(np.nan_to_num(matrix[:, :5]))
    off = square.toarray()
    np.fill_diagonal(off, 0)
    assert (_without_diagonal(square).toarray() == off).all()


def test_samplers_take_a_graph_as_it_is_unless_its_entries_are_in_another_order():
    """A graph that is read from a run lists its entries by column; sums in another order have other rounding errors."""
    kind = {"bipartite": False, "directed": True, "edges": "binary"}
    unsorted = sp.csr_array((np.ones(3), np.array([2, 1, 0]), np.array([0, 2, 3, 3])), shape=(3, 3))
    other = Graph(unsorted, sp.csr_array((3, 3)), (0, 1, 2))
    graph = as_graph(unsorted.toarray())
    kept, made = (graph_from_arrays(graph_arrays(each), **kind) for each in (graph, other))
    assert kept is graph
    assert made is not other
    for one, same in ((made, graph), (graph_from_arrays(dict(graph_arrays(graph)), **kind), graph)):
        assert (one.adjacency.indices == same.adjacency.indices).all()
        assert (one.adjacency.toarray() == unsorted.toarray()).all()


def test_the_transpose_is_computed_once():
    graph = as_graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert graph.transposed is graph.transposed
    assert (graph.transposed.toarray() == graph.adjacency.toarray().T).all()
