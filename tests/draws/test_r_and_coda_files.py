"""Files of R, JAGS and BUGS, and text as other programs write it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app

DRAWS = np.array([[1, 1, 2], [1, 2, 2], [3, 3, 3]])
CANONICAL = [[0, 0, 1], [0, 1, 1], [0, 0, 0]]
#: saveRDS(structure(list(m, m), class = "mcmc.list")) with m a matrix of class mcmc, columns z[1] to z[6], 10 draws
MCMC_LIST = Path(__file__).parent / "mcmc_list.rds"

#: saveRDS(out), as bayesm returns it: out$nmix has probdraw, zdraw (10 draws of 4 items) and compdraw; out$loglik
SAMPLER_RESULT = Path(__file__).parent / "sampler_result.rds"


def test_an_mcmc_list_that_r_wrote_is_read_as_two_chains():
    sample = pt.read_draws(MCMC_LIST)
    assert (sample.n_draws, sample.n_chains, sample.n_items) == (20, 2, 6)
    assert sample.names == tuple(f"z[{i}]" for i in range(1, 7))


def test_objects_of_r(tmp_path):
    rdata = pytest.importorskip("rdata")
    rdata.write_rds(tmp_path / "matrix.rds", DRAWS)
    assert pt.read_draws(tmp_path / "matrix.rds").to_numpy().tolist() == CANONICAL
    frame = pd.DataFrame(DRAWS, columns=["a", "b", "c"])
    rdata.write_rda(tmp_path / "several.RData", {"z": frame, "note": "text", "w": DRAWS})
    with pytest.raises(ValueError, match="several objects of draws; name one with variable=: z, w"):
        pt.read_draws(tmp_path / "several.RData")
    assert pt.read_draws(tmp_path / "several.RData", variable="z").names == ("a", "b", "c")
    rdata.write_rds(tmp_path / "cube.rds", np.zeros((2, 3, 4), np.int32))
    with pytest.raises(ValueError, match="three dimensions"):
        pt.read_draws(tmp_path / "cube.rds")
    rdata.write_rds(tmp_path / "word.rds", "text")
    with pytest.raises(ValueError, match="must hold a matrix"):
        pt.read_draws(tmp_path / "word.rds")
    (tmp_path / "broken.rds").write_bytes(b"RDX3 nothing")
    with pytest.raises(ValueError, match=r"broken\.rds, read as rds"):
        pt.read_draws(tmp_path / "broken.rds")


@pytest.mark.parametrize("variable", [None, "zdraw", "nmix$zdraw"])
def test_the_labels_in_the_whole_result_of_a_sampler_are_found(variable):
    sample = pt.read_draws(SAMPLER_RESULT, variable=variable)
    assert (sample.n_draws, sample.n_items) == (10, 4)
    answer = CliRunner().invoke(app, ["estimate", str(SAMPLER_RESULT), "--json"])
    assert json.loads(answer.stdout)["n_draws"] == 10


def test_what_a_message_names_is_read(tmp_path):
    rdata = pytest.importorskip("rdata")
    result = {"nmix": {"probdraw": DRAWS / 7, "zdraw": DRAWS, "other": DRAWS + 1}, "note": "text"}
    rdata.write_rds(tmp_path / "result.rds", result)
    rdata.write_rda(tmp_path / "result.RData", {"out": result, "n": "text"})
    for name, above in (("result.rds", ""), ("result.RData", "out$")):
        path = tmp_path / name
        with pytest.raises(ValueError, match="several matrices; name one with variable=") as error:
            pt.read_draws(path)
        assert f"'{above}nmix$zdraw', '{above}nmix$other'" in str(error.value)
        for variable in (f"{above}nmix$zdraw", "zdraw"):
            assert pt.read_draws(path, variable=variable).to_numpy().tolist() == CANONICAL
        with pytest.raises(ValueError, match="it has no 'theta'; name one with variable="):
            pt.read_draws(path, variable="theta")
        answer = CliRunner().invoke(app, ["estimate", str(path)])
        assert answer.exit_code == 2
        assert f"name one with --variable: '{above}nmix$zdraw'" in answer.stderr
    rdata.write_rds(tmp_path / "none.rds", {"a": "text", "b": {"c": "text"}})
    with pytest.raises(ValueError, match="a list without a matrix of draws; it has a, b"):
        pt.read_draws(tmp_path / "none.rds")


def test_files_of_r_are_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"\.rds files are read, but not written; choose \.csv"):
        pt.write_draws(tmp_path / "draws.rds", DRAWS)


@pytest.fixture
def coda(tmp_path):
    chain = "".join(f"{101 + t} {value}\n" for column in (*DRAWS.T, [0.5, 0.6, 0.7]) for t, value in enumerate(column))
    (tmp_path / "CODAchain1.txt").write_text(chain)
    (tmp_path / "CODAindex.txt").write_text("z[1] 1 3\nz[2] 4 6\nz[3] 7 9\nalpha 10 12\n")
    return tmp_path


def test_coda_files(coda):
    sample = pt.read_draws(coda / "CODAchain1.txt", variable="z")
    assert sample.to_numpy().tolist() == CANONICAL
    assert sample.names == ("z[1]", "z[2]", "z[3]")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("CODAindex.txt", "z[1] 1 30\n", "lines 1 to 30 of a chain that has 12"),
        ("CODAindex.txt", "z[1] one 3\n", "line 1: it must be a name"),
        ("CODAindex.txt", "z[1] 1 3\nz[2] 4 5\n", "different numbers of draws"),
        ("CODAindex.txt", "", "is empty"),
        ("CODAchain1.txt", "1 2 3\n", "an iteration and a finite value"),
        ("CODAchain1.txt", "1 x\n", "iterations and values"),
    ],
)
def test_damaged_coda_files_are_refused(coda, name, text, message):
    (coda / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        pt.read_draws(coda / "CODAchain1.txt", variable="z")


def test_arrow_files(tmp_path):
    pt.write_draws(tmp_path / "draws.feather", DRAWS)
    assert pt.read_draws(tmp_path / "draws.feather").to_numpy().tolist() == CANONICAL


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("draws.tsv", "a\tb\tc\n1\t1\t2\n1\t2\t2\n3\t3\t3\n"),
        ("draws.txt", '"a" "b" "c"\n"1" 1 1 2\n"2" 1 2 2\n"3" 3 3 3\n'),  # write.table of R
        ("trailing.csv", "a,b,c,\n1,1,2,\n1,2,2,\n3,3,3,\n"),
        ("trailing.tsv", "a\tb\tc\t\r\n1\t1\t2\t\r\n1\t2\t2\t\r\n3\t3\t3\t\r\n"),
    ],
)
def test_text_of_other_programs(tmp_path, name, text):
    (tmp_path / name).write_text(text, newline="")
    sample = pt.read_draws(tmp_path / name)
    assert sample.names == ("a", "b", "c")
    assert sample.to_numpy().tolist() == CANONICAL


def test_a_line_without_the_trailing_comma_of_the_others_is_an_error(tmp_path):
    lines = ["1,1,2,"] * 40 + ["1,1,2,3"]
    (tmp_path / "draws.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match="line 41"):
        pt.read_draws(tmp_path / "draws.csv")


def test_latin_1_is_read_with_a_warning(tmp_path):
    (tmp_path / "draws.csv").write_bytes("Zürich,Köln\n1,2\n1,1\n".encode("latin-1"))
    with pytest.warns(UserWarning, match="read as Latin-1"):
        assert pt.read_draws(tmp_path / "draws.csv").names == ("Zürich", "Köln")
    (tmp_path / "binary.csv").write_bytes(b"a,b\n1,\x81\x03\n")
    with pytest.raises(ValueError, match="not text"):
        pt.read_draws(tmp_path / "binary.csv")


@pytest.mark.parametrize(("name", "loss"), [("VI", pt.VI()), ("Binder", pt.Binder()), ("OMARI", pt.OneMinusARI())])
def test_losses_have_names_in_any_case(name, loss):
    assert pt.estimate(DRAWS, name, rng=1, check_draws=False).loss == loss


def test_a_level_in_percent_is_explained():
    with pytest.raises(ValueError, match=r"it is 95; write 0\.95 for 95%"):
        pt.credible_ball([0, 0, 1], DRAWS, level=95)
