"""`partita blockmodel` and the files it reads."""

import csv
import json

import numpy as np
import pytest

import partita as pt
from partita.models.networks.edge_list import read_node_labels, read_node_names
from support.interrupts import signal_when_in


@pytest.fixture
def edges(tmp_path):
    rng = np.random.default_rng(1)
    labels = np.arange(30) % 2
    X = np.triu(rng.random((30, 30)) < np.where(labels[:, None] == labels, 0.7, 0.05), 1)
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "".join(f"{i},{j}\n" for i, j in np.argwhere(X)), encoding="utf-8")
    truth = tmp_path / "truth.csv"
    truth.write_text("node,label\n" + "".join(f"{i},g{k}\n" for i, k in enumerate(labels)), encoding="utf-8")
    return path


def run(*arguments):
    cli = pytest.importorskip("partita.cli")
    from typer.testing import CliRunner

    return CliRunner().invoke(cli.app, ["blockmodel", *map(str, arguments)])


def test_results_are_printed_and_written(edges, tmp_path):
    out = tmp_path / "run"
    truth = tmp_path / "truth.csv"
    result = run(edges, "--undirected", "--seed", 1, "--out", out, "--truth", truth, "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["n_clusters"] == 2
    assert printed["agreement"]["nmi"] == pytest.approx(1.0)
    assert {path.name for path in out.iterdir()} == {
        "labels.csv",
        "clusters.csv",
        "blocks.csv",
        "path.csv",
        "runs.csv",
        "summary.json",
        "report.html",
    }
    assert printed["directed"] is False
    assert printed["times_reached"] >= 1
    assert printed["runs"] == 6  # the first six agree, so that the other four are left out
    assert not any("restarts" in note for note in printed["notes"])
    page = pt.read_report(out / "report.html")
    assert "undirected network" in page.answer
    assert {"g0", "g1"} <= page.tables["crossed"][0].keys()  # the classes have their names
    lines = (out / "labels.csv").read_text().splitlines()
    assert lines[0] == "node,cluster,certainty"
    assert lines[1].startswith("0,1,")
    assert 0.5 < float(lines[1].split(",")[2]) <= 1


def test_ctrl_c_gives_the_best_so_far_and_its_exit_code(tmp_path):
    nx = pytest.importorskip("networkx")
    path, out = tmp_path / "edges.csv", tmp_path / "run"
    rows = [f"{a},{b},{weight}\n" for a, b, weight in nx.les_miserables_graph().edges(data="weight")]
    path.write_text("source,target,weight\n" + "".join(rows))
    signal_when_in("search_partition")
    result = run(path, "--undirected", "--counts", "--restarts", 5000, "--seed", 1, "--out", out)
    assert result.exit_code == 130, result.output
    assert "The search was stopped early" in result.output
    assert json.loads((out / "summary.json").read_text())["interrupted"] is True
    assert len((out / "labels.csv").read_text().splitlines()) == 78


def test_blocks_may_be_those_of_the_affiliation_model(edges, tmp_path):
    out = tmp_path / "run"
    result = run(edges, "--undirected", "--blocks", "affiliation", "--seed", 1, "--out", out)
    assert result.exit_code == 0, result.output
    with (out / "blocks.csv").open(encoding="utf-8", newline="") as file:
        mean = {(row["from"], row["to"]): row["mean"] for row in csv.DictReader(file)}
    assert mean["1", "1"] == mean["2", "2"] != mean["1", "2"] == mean["2", "1"]
    refused = run(edges, "--blocks", "communities")
    assert refused.exit_code == 2
    assert "--blocks must be one of free, affiliation, but it is 'communities'" in refused.output


def test_nested_levels_are_written(edges, tmp_path):
    out = tmp_path / "run"
    result = run(edges, "--undirected", "--nested", "--restarts", 2, "--seed", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "Levels from fine to coarse: 2" in result.stdout
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary["levels"][0] == {"n_clusters": 2, "icl": summary["icl"]}
    lines = (out / "levels.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",")[:2] == ["node", "level_0"]
    assert len(lines) == 31
    assert "Levels from fine to coarse" in (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def weighted(tmp_path):
    """All pairs of 20 nodes are linked; the weights are near 1 within two groups and near -1 between them."""
    rng = np.random.default_rng(1)
    pairs = [(i, j) for i in range(20) for j in range(i)]
    weights = [(1.0 if (i - j) % 2 == 0 else -1.0) + 0.1 * rng.standard_normal() for i, j in pairs]
    path = tmp_path / "weighted.csv"
    rows = [f"{i},{j},{weight}\n" for (i, j), weight in zip(pairs, weights, strict=True)]
    path.write_text("source,target,weight\n" + "".join(rows), encoding="utf-8")
    return path


def test_weights_may_be_real(weighted, tmp_path):
    out = tmp_path / "run"
    result = run(weighted, "--undirected", "--weights", "real", "--seed", 1, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    labels = json.loads(result.stdout)["labels"]
    names = json.loads(result.stdout)["names"]
    assert [int(name) % 2 == int(names[0]) % 2 for name in names] == [label == 0 for label in labels]
    with (out / "blocks.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["from"], row["to"]): row for row in csv.DictReader(file)}
    assert float(rows["1", "1"]["weight_mean"]) == pytest.approx(1, abs=0.1)
    mean, lower, upper = (float(rows["1", "2"][f"weight_{name}"]) for name in ("mean", "lower", "upper"))
    assert lower < mean < upper
    assert mean == pytest.approx(-1, abs=0.1)
    assert "Mean weight" in (out / "report.html").read_text(encoding="utf-8")


def test_weights_may_be_signs(weighted, tmp_path):
    header, *rows = weighted.read_text(encoding="utf-8").splitlines()
    signs = [",".join([*row.split(",")[:2], "-1" if ",-" in row else "1"]) for row in rows]
    weighted.write_text("\n".join([header, *signs]), encoding="utf-8")
    out = tmp_path / "run"
    result = run(weighted, "--undirected", "--weights", "signed", "--seed", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert (
        (out / "blocks.csv").read_text(encoding="utf-8").startswith("from,to,edges,dyads,mean,lower,upper,probability_")
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "but edges are 0 or 1; --counts takes counts, --weights real any weights, --columns source,target leaves"),
        (["--counts"], "entries must be counts (whole numbers, not negative); --weights real takes any weights"),
        (["--weights", "strong"], "--weights must be counts, real, categories or signed, but it is strong"),
        (["--weights", "real", "--counts"], "--counts says that weights are counts, but --weights is real"),
        (["--weights", "real", "--nested"], "--nested takes binary or counted edges, not --weights real"),
    ],
)
def test_weights_are_used_or_refused(weighted, options, message):
    result = run(weighted, "--undirected", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nested", "--blocks", "affiliation"], "--nested cannot be used together with --blocks"),
        (["--columns", "source,source"], "--columns must be distinct names separated by commas"),
        (["--nested", "--algorithm", "come-latouche"], "--algorithm is for flat models, not for --nested"),
        (["--check"], "--check is for the results that --out writes"),
        (["--max-clusters", 0], "--max-clusters must be at least 1, but it is 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(edges, options, message):
    result = run(edges, "--undirected", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_bad_input_is_one_sentence(edges, tmp_path):
    (tmp_path / "truth.csv").write_text("node,label\n99,a\n", encoding="utf-8")
    result = run(edges, "--undirected", "--truth", tmp_path / "truth.csv")
    assert result.exit_code == 2
    assert "node '99' in line 2 is not in the graph" in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("node,label\n7,a\n", "node '7' in line 2 is not in the graph"),
        ("node,label\n0,a\n0,b\n", "has a label already"),
        ("node,label\n0,a\n", "node 1 has no label"),
        ("node,label\n0\n", "line 2: 1 cell, but line 1 has 2"),
        ("node\n0\n", "labels.csv has one column, node; it needs a node and a label"),
        ("0,a\n1,b\n", "labels.csv, line 1 is 0, a; it must be a header, as in node,label"),
        ("node,label\n0,a\n\n7,a\n", "node '7' in line 4 is not in the graph"),
    ],
)
def test_bad_label_files_are_refused(tmp_path, text, message):
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_node_labels(path, [0, 1])


def test_label_and_node_files(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("node,label\nb,x\n1,y\na,x\n", encoding="utf-8")
    assert read_node_labels(path, ["a", "b", 1]).tolist() == ["x", "x", "y"]
    assert read_node_names(path) == ["b", 1, "a"]


def test_a_network_without_directions_asks_for_the_option(tmp_path):
    nx = pytest.importorskip("networkx")
    nx.write_graphml(nx.path_graph(4), tmp_path / "net.graphml")
    result = run(tmp_path / "net.graphml")
    assert result.exit_code == 2
    assert "the network is undirected but the model is directed; give --undirected" in " ".join(result.output.split())


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_graphml_and_gml_files_are_networks(tmp_path, suffix):
    nx = pytest.importorskip("networkx")
    path = tmp_path / f"net.{suffix}"
    graph = nx.relabel_nodes(nx.karate_club_graph(), str)
    (nx.write_graphml if suffix == "graphml" else nx.write_gml)(nx.Graph(graph.edges()), path)
    result = run(path, "--undirected", "--seed", 1, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_clusters"] == 4
    directed = run(path)
    assert directed.exit_code == 2
    assert "undirected" in directed.output
    path.write_text("no network", encoding="utf-8")
    refused = run(path)
    assert refused.exit_code == 2
    assert f"net.{suffix} is no" in refused.output


@pytest.mark.parametrize("suffix", ["graphml", "gml"])
def test_weights_of_graphml_and_gml_files_are_used_or_refused(tmp_path, suffix):
    nx = pytest.importorskip("networkx")
    path = tmp_path / f"net.{suffix}"
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2), ("b", "c", 1), ("c", "d", 3)])
    nx.set_edge_attributes(graph, 4, "calls")
    (nx.write_graphml if suffix == "graphml" else nx.write_gml)(graph, path)
    refused = run(path, "--undirected")
    assert refused.exit_code == 2
    words = " ".join(refused.output.split())
    assert f"the edge from a to b of net.{suffix} has weight 2, but edges are 0 or 1" in words
    assert "--columns source,target leaves weight out" in words
    found = {}
    for name, options in {
        "plain": ["--columns", "source,target"],
        "counts": ["--counts"],
        "calls": ["--counts", "--columns", "source,target,calls"],
    }.items():
        result = run(path, "--undirected", "--seed", 1, "--json", *options)
        assert result.exit_code == 0, result.output
        found[name] = json.loads(result.stdout)["icl"]
    assert len(set(found.values())) == 3
    unknown = run(path, "--undirected", "--counts", "--columns", "source,target,mails")
    assert unknown.exit_code == 2
    assert "has no attribute 'mails'" in " ".join(unknown.output.split())


def test_weights_of_a_gml_file_that_are_no_numbers_are_refused(tmp_path):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph()
    graph.add_edge("a", "b", weight="often")
    nx.write_gml(graph, tmp_path / "net.gml")
    result = run(tmp_path / "net.gml", "--undirected", "--counts")
    assert result.exit_code == 2
    assert "weight 'often' in the edge from a to b of net.gml is not a number" in " ".join(result.output.split())


def test_an_edge_without_an_end_and_a_loop_are_refused(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("source,target\nann,bob\nbob,\n", encoding="utf-8")
    result = run(path)
    assert result.exit_code == 2
    assert "line 3 of net.csv has no target" in " ".join(result.output.split())
    path.write_text("source,target\nann,bob\nbob,bob\n", encoding="utf-8")
    result = run(path)
    assert result.exit_code == 2
    assert "a loop at node 'bob', but the model has none; give --loops" in " ".join(result.output.split())


def test_the_papers_algorithm_and_a_time_limit(edges):
    result = run(edges, "--undirected", "--algorithm", "come-latouche", "--seconds", 30, "--seed", 1, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["runs"] == 10
    plain = run(edges, "--undirected", "--seed", 1)
    assert "undirected network" in plain.output
    assert "the best was reached by" in plain.output


def test_models_are_compared_on_request(edges, tmp_path):
    out = tmp_path / "run"
    result = run(edges, "--undirected", "--compare", "--restarts", 2, "--seed", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "Block models, the best first" in result.stdout
    with (out / "models.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    models = json.loads((out / "summary.json").read_text(encoding="utf-8"))["models"]
    assert [row["clusters"] for row in rows] == [str(model["clusters"]) for model in models]
    assert {row["model"] for row in rows} == {"free blocks", "affiliation", "nested", "degree correction"}
    assert models[[row["model"] for row in rows].index("nested")]["model"].startswith("NestedBlockModel(")
    scores = [model["log_score"] for model in models]
    assert scores == sorted(scores, reverse=True)


@pytest.fixture
def rows(edges, tmp_path):
    """A table that tells two groups apart which the network does not: without a row for node 3, one for node 99."""
    rng = np.random.default_rng(2)
    groups = np.arange(100) // 2 % 2
    cells = rng.normal(6.0 * groups[:, None], 1.0, (100, 2)).round(2)
    named = [(i, *cells[i], "uv"[groups[i]]) for i in (99, *range(29, -1, -1)) if i != 3]
    path = tmp_path / "rows.csv"
    path.write_text("node,a,b,kind\n" + "".join(",".join(map(str, row)) + "\n" for row in named), encoding="utf-8")
    return path


def test_a_table_beside_the_network(edges, rows, tmp_path):
    out = tmp_path / "run"
    result = run(edges, "--undirected", "--table", rows, "--family", "kind=categorical", "--seed", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "1 node without a row in the table: all cells missing; 1 node without edges" in result.stdout
    facts = json.loads((out / "summary.json").read_text())
    assert facts["kind"] == "layers"
    assert facts["n_items"] == 31
    labels = dict(zip(facts["names"], facts["labels"], strict=True))
    assert len({labels[str(i)] for i in (0, 1, 2, 7)}) == 4
    assert all(labels[str(i)] == labels[str(i % 4)] for i in range(30) if i % 4 != 3)
    with (out / "layers.csv").open() as file:
        found = {row["layer"]: row for row in csv.DictReader(file)}
    assert int(found["table"]["observations"]) == 90
    assert {name: float(row["share"]) for name, row in found.items()} == pytest.approx(facts["shares"], abs=1e-5)
    assert min(facts["evidence"].values()) > 10
    assert {"profiles.csv", "columns.csv", "layers.csv"} < {path.name for path in out.iterdir()}
    page = pt.read_report(out / "report.html")
    assert "Of the evidence for these clusters" in page.answer


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nested"], "--nested is for a network alone, without --table"),
        (["--compare"], "--compare is for a network alone, without --table"),
        (["--family", "nothing=count"], "nothing"),
    ],
)
def test_options_that_do_not_go_with_a_table(edges, rows, options, message):
    result = run(edges, "--undirected", "--table", rows, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    alone = run(edges, "--undirected", "--family", "count")
    assert alone.exit_code == 2
    assert "--family is for the columns of --table" in alone.stderr


def test_each_node_has_one_row(edges, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("node,a\n0,1.5\n0,2.5\n1,0.5\n", encoding="utf-8")
    result = run(edges, "--undirected", "--table", path)
    assert result.exit_code == 2
    assert "one row per node with its name" in result.stderr
