"""Files as R, pandas, polars, Stan, JAGS, xarray and Excel write them: read as what they are, or refused.

Each text is what the tool writes for the same six draws of four items, to the letter.
"""

import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from typer.testing import CliRunner

from partita.cli import app
from partita.cli.inputs import read_data, read_partition
from partita.draws.io import read_draws
from partita.draws.sample import as_sample
from partita.models import as_graph
from support.commands import one_sentence

DRAWS = np.array([[1, 1, 2, 2], [1, 1, 2, 3], [1, 2, 2, 2], [1, 1, 2, 2], [1, 1, 1, 2], [1, 2, 3, 3]])
CANONICAL = DRAWS - 1
CHAINS = [0, 0, 0, 1, 1, 1]
NAMES = ("ann", "bob", "eve", "dan")
Z = tuple(f"z[{i}]" for i in range(1, 5))


def written(folder, text):
    """A file with this text, line ends as they are."""
    path = folder / "foreign.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def lines(rows, separator=","):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def r_csv(names, rows=DRAWS, row_names=True, separator=","):
    """write.csv (row.names=TRUE is its default), write.csv2 with a semicolon."""
    header = ['""' * row_names, *(f'"{name}"' for name in names)] if row_names else [f'"{name}"' for name in names]
    return lines([header, *([*[f'"{i}"'] * row_names, *row] for i, row in enumerate(rows, 1))], separator)


def r_table(names, rows=DRAWS):
    """write.table with its defaults: spaces, quotes, row names, no corner."""
    return lines([[f'"{name}"' for name in names], *([f'"{i}"', *row] for i, row in enumerate(rows, 1))], " ")


def cmdstan():
    comments = "# stan_version_major = 2\n# method = sample (Default)\n#   sample\n#     num_samples = 6\n"
    header = ["lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"]
    own = [-7.03, 0.98, 0.9, 2, 3, 0, 9.1]
    rows = [[*own, *row] for row in DRAWS]
    adapted = "# Adaptation terminated\n# Step size = 0.9\n# Diagonal elements of inverse mass matrix:\n# 1\n"
    timing = "#\n#  Elapsed Time: 0.01 seconds (Warm-up)\n#                0.02 seconds (Sampling)\n#\n"
    return comments + lines([[*header, *(f"z.{i}" for i in range(1, 5))]]) + adapted + lines(rows) + timing


def long_rows(chains=True, first=1):
    """Draw by draw, item by item: chain, iteration in the chain, draw, item, label."""
    for t, row in enumerate(DRAWS.tolist()):
        for i, label in enumerate(row):
            yield t // 3 + first, t % 3 + first, t + first, i + first, label


def pandas_table(names=NAMES):
    return pd.DataFrame(DRAWS, columns=list(names))


def with_chains(names=NAMES):
    table = pandas_table(names)
    table.insert(0, "chain", [1, 1, 1, 2, 2, 2])
    table.insert(1, "draw", [0, 1, 2, 0, 1, 2])
    return table


def posterior():
    return xr.Dataset({"z": (("chain", "draw", "z_dim_0"), DRAWS.reshape(2, 3, 4))})


def tidybayes(kind):
    if kind == "spread":
        rows = [(i, z, c, t, d) for c, t, d, i, z in long_rows()]
        rows.sort(key=lambda row: row[0])  # spread_draws groups by the index
        return lines([["i", "z", ".chain", ".iteration", ".draw"], *rows])
    rows = [(i, c, t, d, "z", z) for c, t, d, i, z in long_rows()]
    return lines([["i", ".chain", ".iteration", ".draw", ".variable", ".value"], *rows])


def ggmcmc():
    rows = [(t, c, f"z[{i}]", z) for c, t, _, i, z in long_rows()]
    return lines([["Iteration", "Chain", "Parameter", "value"], *rows])


def shuffled_tidy():
    table = pd.DataFrame([(d, NAMES[i - 1], z) for _, _, d, i, z in long_rows()], columns=["draw", "item", "label"])
    order = np.random.default_rng(0).permutation(len(table) - 1) + 1  # the first row stays: it names the first item
    return table.iloc[[0, *order]]


#: Name of the file: its text, the names of its items, its chains, and what the user must say.
DRAW_FILES = {
    "R write.csv": (r_csv(NAMES), NAMES, None, {}),
    "R write.csv of a matrix": (r_csv(["V1", "V2", "V3", "V4"]), ("V1", "V2", "V3", "V4"), None, {}),
    "R write.csv, row.names=FALSE": (r_csv(NAMES, row_names=False), NAMES, None, {}),
    "R write.csv2": (r_csv(NAMES, separator=";"), NAMES, None, {}),
    "R write.table": (r_table(NAMES), NAMES, None, {}),
    "R write.table, nothing named": (lines(DRAWS, " "), None, None, {}),
    "R readr::write_csv": (lines([NAMES, *DRAWS]), NAMES, None, {}),
    "R coda as.matrix, write.csv": (r_csv(Z), Z, None, {}),
    "R posterior::as_draws_df": (
        lines(
            [
                [*Z, ".chain", ".iteration", ".draw"],
                *([*row, t // 3 + 1, t % 3 + 1, t + 1] for t, row in enumerate(DRAWS)),
            ]
        ),
        Z,
        CHAINS,
        {},
    ),
    "R posterior::as_draws_df, write.csv": (
        r_csv(
            [*Z, ".chain", ".iteration", ".draw"], [[*row, t // 3 + 1, t % 3 + 1, t + 1] for t, row in enumerate(DRAWS)]
        ),
        Z,
        CHAINS,
        {},
    ),
    "R tidybayes::spread_draws": (tidybayes("spread"), ("1", "2", "3", "4"), CHAINS, {}),
    "R tidybayes::gather_draws": (tidybayes("gather"), ("1", "2", "3", "4"), CHAINS, {}),
    "R ggmcmc::ggs": (ggmcmc(), Z, CHAINS, {}),
    "R reshape2::melt, write.csv": (
        r_csv(["Var1", "Var2", "value"], [(d, f'"{NAMES[i - 1]}"', z) for _, _, d, i, z in long_rows()]),
        NAMES,
        None,
        {},
    ),
    "CmdStan": (cmdstan(), ("z.1", "z.2", "z.3", "z.4"), None, {}),
    "CmdStan and another variable": (
        cmdstan().replace(",z.1", ",K,z.1").replace(",0,9.1,", ",0,9.1,3,"),
        ("z.1", "z.2", "z.3", "z.4"),
        None,
        {"variable": "z"},
    ),
    "JAGS, beside other parameters": (
        r_csv(["alpha", *Z], [[0.5 + t, *row] for t, row in enumerate(DRAWS)]),
        Z,
        None,
        {"variable": "z"},
    ),
    "pandas to_csv": (pandas_table().to_csv(), NAMES, None, {}),
    "pandas to_csv, index=False": (pandas_table().to_csv(index=False), NAMES, None, {}),
    "pandas with chain and draw": (with_chains().to_csv(), NAMES, CHAINS, {}),
    "pandas melt": (
        pandas_table().rename_axis("draw").reset_index().melt(id_vars="draw").to_csv(index=False),
        NAMES,
        None,
        {},
    ),
    "pandas, tidy and shuffled": (shuffled_tidy().to_csv(), None, None, {}),
    "polars write_csv": (pl.DataFrame(DRAWS, schema=list(NAMES)).write_csv(), NAMES, None, {}),
    "polars with a row index": (pl.DataFrame(DRAWS, schema=list(NAMES)).with_row_index().write_csv(), NAMES, None, {}),
    "xarray to_dataframe": (posterior()["z"].to_dataframe().to_csv(), None, CHAINS, {}),
    "numpy savetxt": ("".join(" ".join(f"{x:.18e}" for x in row) + "\n" for row in DRAWS), None, None, {}),
    "numpy savetxt, fmt=%d": (lines(DRAWS, " "), None, None, {}),
    "Excel, semicolons and a mark": ("\ufeff" + lines([NAMES, *DRAWS], ";").replace("\n", "\r\n"), NAMES, None, {}),
    "Excel, tabs": (lines([NAMES, *DRAWS], "\t").replace("\n", "\r\n"), NAMES, None, {}),
    "Excel, decimal commas in the weights": (
        "\ufeff" + lines([[".weight", *NAMES], *(["0,5", *row] for row in DRAWS)], ";").replace("\n", "\r\n"),
        NAMES,
        None,
        {},
    ),
    "other names in a long table": (
        lines([["sweep", "person", "room"], *((d, NAMES[i - 1], z) for _, _, d, i, z in long_rows())]),
        NAMES,
        None,
        {"long": ("sweep", "person", "room")},
    ),
}


@pytest.mark.parametrize("kind", DRAW_FILES)
def test_draws_are_read_as_what_they_are(kind):
    text, names, chains, said = DRAW_FILES[kind]
    found = read_draws(io.BytesIO(text.encode()), **said)
    if kind == "pandas, tidy and shuffled":
        order = [found.names.index(name) for name in NAMES]
        found = as_sample(found.to_numpy()[:, order])
    assert found.to_numpy().tolist() == CANONICAL.tolist()
    assert found.names == names
    assert (None if found.chains is None else found.chains.tolist()) == chains
    assert not found.is_weighted


def test_there_are_twenty():
    assert len(DRAW_FILES) >= 20


REFUSED = {
    "CmdStan and another variable": (
        DRAW_FILES["CmdStan and another variable"][0],
        "has the variables K, z; name the one that holds the labels, as in --variable z",
    ),
    "JAGS, beside other parameters": (
        DRAW_FILES["JAGS, beside other parameters"][0],
        "has the variables alpha, z; name the one that holds the labels, as in --variable z",
    ),
    "a matrix of Stan": ("lp__,z.1.1,z.1.2\n-1,0,1\n-1,1,0\n", "has two indices in z.1.1"),
    "other names in a long table": (
        DRAW_FILES["other names in a long table"][0].replace("sweep", "draw"),
        "has draw 1 twice: a table with one row per draw and item is read with --long draw,item,label",
    ),
    "a long table with another column": (
        "draw,item,label,site\n1,a,0,x\n1,b,0,x\n",
        "has the columns of a long table, and also site; name those of the draw, the item and the label, as in --long",
    ),
    "a long table with a hole": (
        "chain,draw,item,label\n1,1,a,0\n1,1,b,0\n2,1,a,1\n",
        "draw 1 of chain 2, item b (which has no row), is None: a label must not be missing (--missing nan marks",
    ),
    "a long table with a row twice": (
        "draw,item,label\n1,a,0\n1,b,0\n1,a,1\n",
        "line 4 labels item a of draw 1 again, after",
    ),
    "a long table with two weights": (
        ".weight,draw,item,label\n1,1,a,0\n2,1,b,0\n",
        "line 2 has a different weight from other rows of its draw",
    ),
    "our labels": ("item,cluster,certainty\nann,0,1\nbob,1,1\n", "has a column 'item': its rows are items, not draws"),
    "one partition": ("cluster\n0\n0\n1\n", "has the one column 'cluster': one label per item, not draws"),
    "edges": ("source,target\n0,1\n1,2\n", "edges of a network, not draws"),
    "column numbers": ("0,1,2\n0,0,1\n", "specify it with --header or --no-header"),
    "XML": ("<?xml version='1.0'?>\n<gexf/>\n", "is an XML file, not a table"),
    "Pajek": ('*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n', "is a Pajek file, not a table; save the network as .graphml"),
    "Unicode text of Excel": (lines(DRAWS, "\t").encode("utf-16"), "is UTF-16 text; save it as CSV UTF-8"),
    "CODA": (
        lines([(1001 + t, label) for item in DRAWS.T for t, label in enumerate(item)], "  "),
        "counts 1001 to 1006 and starts again, as in the CODA files of JAGS",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_could_be_two_things_is_refused_in_one_sentence(tmp_path, kind):
    content, sentence = REFUSED[kind]
    path = tmp_path / "draws.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = CliRunner().invoke(app, ["convert", str(path), "--out", str(tmp_path / "out.npz")])
    assert answer.exit_code == 2, answer.output
    assert sentence in one_sentence(answer.stderr)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_long_frames_are_turned(make):
    columns = {"chain": [], "draw": [], "item": [], "label": []}
    for c, t, _, i, z in long_rows():
        for name, value in zip(columns, (c, t, NAMES[i - 1], z), strict=True):
            columns[name].append(value)
    found = as_sample(make(columns))
    assert (found.to_numpy().tolist(), found.names) == (CANONICAL.tolist(), NAMES)
    assert found.chains.tolist() == CHAINS
    renamed = make({"t": columns["draw"], "who": columns["item"], "chain": columns["chain"], "k": columns["label"]})
    again = as_sample(renamed, long=("t", "who", "k"))
    assert again.to_numpy().tolist() == CANONICAL.tolist()
    assert again.chains.tolist() == CHAINS
    with pytest.raises(ValueError, match="no column 'what'; its columns are t, who, chain, k"):
        as_sample(renamed, long=("t", "who", "what"))
    with pytest.raises(ValueError, match="long must name three columns"):
        as_sample(renamed, long=("t", "who"))


def test_holes_of_long_tables_are_gaps_only_if_declared():
    table = pd.DataFrame({"draw": [1, 1, 2], "item": ["a", "b", "a"], "label": [0, 1, 0]})
    assert as_sample(table, missing=np.nan).labels.tolist() == [[0, 1], [0, -1]]
    with pytest.raises(ValueError, match=r"the table, draw 2, item b \(which has no row\), is None"):
        as_sample(table)
    with pytest.raises(ValueError, match="the table, row 2 labels item a of draw 1 again"):
        as_sample(table.assign(draw=1, item=["a", "b", "a"]))
    with pytest.raises(ValueError, match="the table, row 1 does not identify its item"):
        as_sample(table.assign(item=["a", None, "b"]))


def test_long_parquet(tmp_path):
    shuffled_tidy().to_parquet(tmp_path / "draws.parquet")
    found = read_draws(tmp_path / "draws.parquet")
    order = [found.names.index(name) for name in NAMES]
    assert as_sample(found.to_numpy()[:, order]).to_numpy().tolist() == CANONICAL.tolist()
    np.save(tmp_path / "draws.npy", DRAWS)
    with pytest.raises(ValueError, match=r"long=.* names columns of a table, but \.npy files hold arrays"):
        read_draws(tmp_path / "draws.npy", long=("draw", "item", "label"))


def test_frames_as_pandas_reads_them_back():
    found = as_sample(pd.read_csv(io.StringIO(with_chains().to_csv())))
    assert (found.names, found.chains.tolist()) == (NAMES, CHAINS)


TRUTHS = {
    "one column": ("species\noak\noak\nelm\nelm\n", ""),
    "one column, numbers": ("species\n1\n1\n2\n2\n", ""),
    "no header": ("oak\noak\nelm\nelm\n", ""),
    "R write.csv": ('"","x"\n"1","oak"\n"2","oak"\n"3","elm"\n"4","elm"\n', ""),
    "R write.table": ('"x"\n"1" "oak"\n"2" "oak"\n"3" "elm"\n"4" "elm"\n', ""),
    "a column by name": ("tree,species\n1,oak\n2,oak\n3,elm\n4,elm\n", ":species"),
    "a name settles the header": ("species\noak\noak\nelm\nash\n", ":species"),
    "Excel": ("\ufefftree;species\r\n1;oak\r\n2;oak\r\n3;elm\r\n4;elm\r\n", ":species"),
    "pandas": (",tree,label\n0,a,oak\n1,b,oak\n2,c,elm\n3,d,elm\n", ""),
}


@pytest.mark.parametrize("kind", TRUTHS)
def test_truths(tmp_path, kind):
    text, column = TRUTHS[kind]
    labels = list(read_partition(f"{written(tmp_path, text)}{column}").values)
    assert len(labels) == 4
    assert labels[0] == labels[1]
    assert labels[1] != labels[2]


def test_a_truth_that_may_have_a_header_says_how_to_choose(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("ann\nbob\neve\n")
    answer = CliRunner().invoke(app, ["compare", str(path), str(path)])
    assert answer.exit_code == 2
    assert "line 1 is ann: a header, or the first item; write FILE:NAME" in one_sentence(answer.stderr)
    assert list(read_partition(f"{path}:ann").values) == ["bob", "eve"]


DATA = {
    "R write.csv": ('"","x","y"\n"1",1.5,2\n"2",2.5,3\n', None),
    "R write.csv2": ('"";"x";"y"\n"1";1,5;2\n"2";2,5;3\n', None),
    "R write.table": ('"x" "y"\n"1" 1.5 2\n"2" 2.5 3\n', None),
    "Excel": ("\ufeffx;y\r\n1,5;2\r\n2,5;3\r\n", None),
    "pandas": (",x,y\n0,1.5,2\n1,2.5,3\n", None),
    "numpy savetxt": ("1.5e+00 2.0e+00\n2.5e+00 3.0e+00\n", None),
    "chosen columns": ("species,y,x,id\noak,2,1.5,7\nelm,3,2.5,8\n", "x,y"),
}


@pytest.mark.parametrize("kind", DATA)
def test_data(tmp_path, kind):
    text, columns = DATA[kind]
    assert read_data(str(written(tmp_path, text)), columns).values.tolist() == [[1.5, 2], [2.5, 3]]


def test_text_columns_are_named_with_the_way_to_choose(tmp_path):
    path, out = tmp_path / "iris.csv", tmp_path / "run"
    path.write_text("length,width,species\n1.5,2,setosa\n2.5,3,virginica\n")
    command = [
        "sample",
        "dpm",
        str(path),
        "--out",
        str(out),
        "--draws",
        "2",
        "--warmup",
        "1",
        "--chains",
        "1",
        "--json",
    ]
    answer = CliRunner().invoke(app, command)
    assert answer.exit_code == 2
    sentence = "line 2, species: 'setosa' is not a number; --columns length,width reads the columns of numbers"
    assert sentence in one_sentence(answer.stderr)
    answer = CliRunner().invoke(app, [*command, "--columns", "length,width"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["n_items"] == 2
    assert np.load(out / "X.npy").tolist() == [[1.5, 2], [2.5, 3]]
    for columns, problem in (("length,mass", "has no column 'mass'"), ("length,length", "distinct names")):
        answer = CliRunner().invoke(app, [*command, "--columns", columns])
        assert problem in one_sentence(answer.stderr)


def test_decimal_commas_beside_points_are_no_numbers(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x;y\n1.234;2,5\n2.345;3,5\n")  # thousands in Germany, or a slip
    with pytest.raises(ValueError, match=r"line 2, y: '2,5' is not a number"):
        read_data(str(path))


NOT_EDGES = {
    "nodes": ("node,label\n1,a\n2,a\n3,b\n", "has each 'node' once, with its 'label': a table of nodes, or edges"),
    "nodes by number": ("id,club\n0,1\n1,1\n2,0\n", "has each 'id' once, with its 'club': a table of nodes, or edges"),
    "weights": (
        "source,target,weight\n0,1,4\n0,2,1\n",
        "line 2 of edges.csv has weight 4, but edges are 0 or 1; --counts",
    ),
    "weights without their name": (
        "a,b,times\n0,1,4\n0,2,1\n",
        "has weight 4, but edges are 0 or 1; --counts takes counts",
    ),
    "numbers": (
        "from,to,calls\n0,1,4\n0,2,1\n",
        "has a column 'calls' of numbers, which may be weights; --columns from,to,calls",
    ),
    "many columns": (
        "a,b,c,d\n0,1,4,x\n0,2,1,y\n",
        "has the columns a, b, c, d; name the two ends of an edge source,target",
    ),
}


@pytest.mark.parametrize("kind", NOT_EDGES)
def test_edges_and_their_weights_are_not_guessed(tmp_path, kind):
    text, sentence = NOT_EDGES[kind]
    path = tmp_path / "edges.csv"
    path.write_text(text)
    answer = CliRunner().invoke(app, ["blockmodel", str(path)])
    assert answer.exit_code == 2, answer.output
    assert sentence in one_sentence(answer.stderr)


def test_edges_that_are_chosen(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("Source,Target,Type,Id,Label,Weight\n0,1,Directed,0,,4\n0,2,Directed,1,,1\n")  # Gephi
    assert as_graph(path, counts=True).adjacency.toarray().tolist() == [[0, 4, 1], [0, 0, 0], [0, 0, 0]]
    assert as_graph(path, columns=("Source", "Target")).adjacency.nnz == 2
    frame = pd.read_csv(path)
    assert as_graph(frame, columns=("Target", "Source")).adjacency.toarray().tolist() == [
        [0, 0, 0],
        [1, 0, 0],
        [1, 0, 0],
    ]
    with pytest.raises(
        ValueError,
        match=r"row 0 has weight 4, but edges are 0 or 1; edges='counts' takes counts, .*, columns=",
    ):
        as_graph(frame)
    with pytest.raises(ValueError, match="edge 1 has weight 3, but edges are 0 or 1"):
        as_graph([("a", "b"), ("b", "c", 3)])
    with pytest.raises(ValueError, match="has no column 'from'; its columns are Source, Target"):
        as_graph(path, columns=("from", "to"))
    with pytest.raises(ValueError, match="columns must name the two ends"):
        as_graph(path, columns="Source")
    answer = CliRunner().invoke(app, ["blockmodel", str(path), "--columns", "Source,Target", "--json"])
    assert answer.exit_code == 0, answer.output


def test_labels_of_nodes_may_be_chosen(tmp_path):
    from partita.models.networks.edge_list import read_node_labels

    path = tmp_path / "nodes.csv"
    path.write_text("id,age,club\n0,30,x\n1,30,y\n2,40,y\n")
    assert read_node_labels(f"{path}:club", [0, 1, 2]).tolist() == ["x", "y", "y"]
    with pytest.raises(ValueError, match=r"has the columns id, age, club; write .*nodes\.csv:NAME to choose"):
        read_node_labels(path, [0, 1, 2])
