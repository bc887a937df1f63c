"""Messages that newcomers met, and what they should have said."""

import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

import partita as pt
from partita._support.errors import Resume, Sentence
from partita.cli import app
from partita.cli.errors import as_option
from support.commands import one_sentence
from support.interrupts import signal_when_in

X = np.concatenate([np.random.default_rng(1).normal(m, 1, (10, 2)) for m in (0, 8)])
QUICK = {"sampling": pt.models.Sampling(draws=20, warmup=20, chains=1), "random_state": 1}
MODELS = (pt.models.GaussianDPM, pt.models.MixtureDPM)


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_missing_values_lead_to_the_model_that_takes_them():
    gappy = X.copy()
    gappy[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"row 3, column 1: .* or use MixtureDPM"):
        pt.models.GaussianDPM().sample(gappy)


@pytest.mark.parametrize("model", MODELS)
def test_a_number_of_components_is_explained(model):
    with pytest.raises(TypeError, match=r"FiniteMixture\(weight=..., rate=...\), .* 1 \+ rate on average, not 3"):
        model(components=3).sample(X, draws=2, warmup=2)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("group", "kind"), [("sampling", "Sampling"), ("moves", "SplitMergeMoves")])
def test_a_group_of_settings_of_the_wrong_type_is_explained(model, group, kind):
    with pytest.raises(TypeError, match=rf"{group} must be {kind}\(...\), as in .* it is {{'draws': 5}}"):
        model(**{group: {"draws": 5}}).fit(X)


@pytest.mark.filterwarnings("ignore::partita.estimation.convergence.MixingWarning")
@pytest.mark.parametrize("model", MODELS)
def test_profiles_of_a_fitted_model_are_those_of_its_estimate(model):
    fitted = model(**QUICK).fit(X)
    assert str(pt.profiles(fitted, X, rng=1)) == str(pt.profiles(fitted.estimate_, X, rng=1))


@pytest.mark.parametrize("wrong", [np.zeros(20, int), "labels", None])
def test_profiles_of_something_else_say_what_they_need(wrong):
    with pytest.raises(TypeError, match="profiles needs a result of estimate or maximize, or a fitted model, not"):
        pt.profiles(wrong, X)


def test_parameters_that_do_not_vary_have_a_figure():
    draws = [[0, 0, 1]] * 7
    found = pt.cluster_parameters([0, 0, 1], np.full((7, 3), 0.1), draws)
    assert len(pt.plots.cluster_intervals(found).containers) == 2


@pytest.mark.parametrize("cell", ["NA", "", "nan"])
def test_the_advice_for_missing_labels_of_a_file_is_what_files_have(tmp_path, cell):
    path = tmp_path / "draws.csv"
    path.write_text(f"a,b,c\n1,{cell},2\n1,2,2\n1,1,2\n")
    answer = invoke("estimate", path)
    assert answer.exit_code == 2
    assert "line 2, column 2, is empty or NA: a label must not be missing (--missing NA marks" in answer.stderr
    assert invoke("estimate", path, "--missing", "NA").exit_code == 0
    with pytest.raises(ValueError, match="missing='NA' marks it as missing"):
        pt.read_draws(path)
    assert pt.read_draws(path, missing="NA").has_gaps


@pytest.mark.parametrize("name", ["book.xlsx", "book.csv"])
@pytest.mark.parametrize("command", ["estimate", "estimate --pairs", "ensemble", "blockmodel", "report", "cluster"])
def test_a_workbook_is_recognised(tmp_path, name, command):
    with zipfile.ZipFile(tmp_path / name, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    answer = invoke(*command.split(), tmp_path / name, *(["--out", tmp_path / "out"] if command == "cluster" else []))
    assert answer.exit_code == 2
    assert "is an Excel workbook" in one_sentence(answer.stderr)
    assert "save the sheet as CSV UTF-8" in answer.stderr


@pytest.mark.parametrize(("warmup", "said"), [(10_000_000, "before there were draws"), (1, "draws per chain")])
def test_a_stopped_run_says_how_to_go_on(tmp_path, warmup, said):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="x,y", comments="")
    command = ["sample", "dpm", tmp_path / "x.csv", "--out", tmp_path / "run", "--chains", 1, "--seed", 1]
    signal_when_in("sample_model")
    answer = invoke(*command, "--draws", 100_000_000, "--warmup", warmup)
    assert answer.exit_code == 130
    assert said in answer.stderr
    assert "the same command with --resume continues" in answer.stderr
    assert (tmp_path / "run").exists()


def test_what_continues_a_run_is_named_as_it_is_typed():
    message = Sentence("stopped by Ctrl-C after 3 draws per chain; ", Resume("a/b"), " continues it")
    assert str(message) == "stopped by Ctrl-C after 3 draws per chain; partita.resume('a/b') continues it"
    assert (
        message.worded(as_option)
        == "stopped by Ctrl-C after 3 draws per chain; the same command with --resume continues it"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", 0], "--jobs must not be 0"),
        (["--burn", 9], "--burn 9 leaves none of the 3 draws"),
        (["--level", 95], "--level must be above 0"),
    ],
)
def test_options_are_named_as_they_are_typed(tmp_path, words, said):
    (tmp_path / "draws.csv").write_text("a,b,c\n1,1,2\n1,2,2\n1,1,2\n")
    answer = invoke("ball", tmp_path / "draws.csv", *words)
    assert answer.exit_code == 2
    assert one_sentence(answer.stderr).startswith(f"partita: {said}")


def test_the_help_says_what_the_other_weight_is():
    assert "--b stays 1" in " ".join(invoke("estimate", "--help").stdout.replace("│", " ").split())
