"""Tables in and out of the commands: parts, standard input and output, order, columns of an earlier scoring."""

import io
import json
import subprocess
import sys

import numpy as np
import numpy.testing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from vecuq import load, workflows
from vecuq.cli import app
from vecuq.cli.options import listed
from vecuq.cli.talk import as_options
from vecuq.errors import SettingError
from vecuq.table import write_batches


@pytest.fixture
def rows(make_rows):
    """New rows with ids, some far out, two without a score."""
    frame = pd.DataFrame({"id": [f"{k:03d}" for k in range(60)], **make_rows(60, 4)})
    frame.loc[[5, 40], "knn"] *= 30
    frame.loc[[7, 41], "entropy"] = np.nan
    return frame


def save(path, frame):
    write_batches(path, pa.Table.from_pandas(frame, preserve_index=False).to_batches())
    return path


@pytest.fixture
def new(tmp_path, rows):
    return save(tmp_path / "new.parquet", rows)


@pytest.fixture
def expected(ranker, rows):
    """The uncertainty of every row."""
    return ranker.uncertainty(rows, warn=False)


def pipe(content, *words):
    """Run the command line with something on standard input; return what it wrote."""
    return CliRunner().invoke(app, [str(word) for word in words], input=content, catch_exceptions=False)


# Parts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["folder", "files", "pattern"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl.gz"])
def test_parts_are_scored_into_one_file(run, tmp_path, model, rows, expected, how, kind):
    (tmp_path / "parts").mkdir()
    parts = [save(tmp_path / "parts" / f"part-{k}.{kind}", rows[20 * k : 20 * k + 20]) for k in range(3)]
    (tmp_path / "parts" / "_SUCCESS").touch()
    where = {"folder": [tmp_path / "parts"], "files": parts, "pattern": [tmp_path / "parts" / f"*.{kind}"]}[how]
    assert "60 rows scored" in run("score", model, *where, "-o", tmp_path / "o.parquet").stdout
    out = pd.read_parquet(tmp_path / "o.parquet")
    npt.assert_array_equal(out["uncertainty"], expected)
    assert out["id"].tolist() == rows["id"].tolist()


def test_every_command_that_reads_a_table_reads_parts(run, tmp_path, rows, make_rows):
    for name, seed in (("c", 0), ("n", 1)):
        (tmp_path / name).mkdir()
        frame = pd.DataFrame({**make_rows(200, seed), "is_ood": np.arange(200) % 2})
        save(tmp_path / name / "1.csv", frame[:100])
        save(tmp_path / name / "2.csv", frame[100:])
    calibration, new, model = tmp_path / "c", tmp_path / "n", tmp_path / "m.vecuq"
    for words in (
        ("fit", calibration, "-o", model),
        ("score", model, new, "-o", tmp_path / "o.csv"),
        ("report", model, new / "1.csv", new / "2.csv", "-o", tmp_path / "page.html"),
        ("evaluate", new, "--ood", "is_ood", "--resamples", 0),
        ("compare", calibration, tmp_path / "n" / "*.csv", "--ood", "is_ood", "--resamples", 0),
        ("doctor", calibration, new),
        ("monitor", model, new),
    ):
        result = run(*words)
        assert result.exit_code == 0, result.output
    assert load(model).diagnostics.n_map == 100
    assert len(pd.read_csv(tmp_path / "o.csv")) == 200


def test_a_monitor_names_the_file_of_a_folder(run, tmp_path, model, make_rows):
    (tmp_path / "days").mkdir()
    save(tmp_path / "days" / "1.csv", pd.DataFrame(make_rows(300, 1)))
    save(tmp_path / "days" / "2.csv", pd.DataFrame(make_rows(300, 2)) * 9)
    told = json.loads(run("monitor", model, tmp_path / "days", "--json").stdout)
    assert [file["path"][-5:] for file in told["files"]] == ["1.csv", "2.csv"]
    assert {alarm["file"][-5:] for alarm in told["alarms"]} == {"2.csv"}


def test_a_monitor_notices_that_model_and_table_are_swapped(refused, model, new):
    assert "new.parquet is a table; a model is needed here" in refused("monitor", new, model)


# Standard input and output ------------------------------------------------------------------------------------------


def as_lines(frame):
    cells = frame.astype(object).where(frame.notna(), None)
    return "".join(json.dumps(row) + "\n" for row in cells.to_dict("records"))


def as_stream(frame):
    sink, table = io.BytesIO(), pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("put", [as_lines, as_stream])
def test_rows_go_through_a_pipe(model, rows, ranker, put):
    result = pipe(put(rows), "score", model, "-", "-o", "-", "--alpha", 0.1, "--select", "bh")
    assert result.exit_code == 0
    got = pd.DataFrame(map(json.loads, result.stdout.splitlines()))
    assert got["id"].tolist() == rows["id"].tolist()
    npt.assert_array_equal(got["uncertainty"], ranker.uncertainty(rows, warn=False))
    assert "60 rows scored" in result.stderr
    assert result.stderr.splitlines()[0].endswith("-> stdout")


def test_an_arrow_stream_comes_out_if_it_is_wanted(model, new, expected):
    result = pipe(b"", "score", model, new, "-o", "-", "--stdout-format", "arrow")
    with pa.ipc.open_stream(result.stdout_bytes) as reader:
        npt.assert_array_equal(reader.read_all()["uncertainty"].to_numpy(), expected)


def test_a_model_is_fitted_and_a_table_examined_from_a_pipe(tmp_path, make_rows):
    frame = pd.DataFrame(make_rows(200, 0))
    assert pipe(as_lines(frame), "fit", "-", "-o", tmp_path / "m.vecuq").exit_code == 0
    assert load(tmp_path / "m.vecuq").columns == ("entropy", "knn")
    assert pipe(as_stream(frame), "doctor", "-").exit_code == 0
    assert pipe(as_stream(frame), "report", tmp_path / "m.vecuq", "-", "-o", tmp_path / "r.html").exit_code == 0


def test_what_cannot_go_through_a_pipe_is_refused(model, new, tmp_path):
    result = pipe("a,b\n1,2\n", "score", model, "-", "-o", tmp_path / "o.csv")
    assert (result.exit_code, result.stderr) == (
        1,
        "error: Standard input must be JSON lines or an Arrow stream. Save other formats as a file first.\n",
    )
    assert pipe("", "score", model, new, "-o", "-", "--json").exit_code == 2
    assert pipe("", "score", model, new, "-o", "-", "--stdout-format", "csv").exit_code == 1


# Order --------------------------------------------------------------------------------------------------------------


def by_uncertainty(rows, expected):
    """Row numbers: most uncertain first, equals as they come, rows without a score last."""
    return sorted(range(len(rows)), key=lambda k: (np.isnan(expected[k]), -np.nan_to_num(expected[k]), k))


@pytest.mark.parametrize("pieces", [7, 65_536])
def test_sorting_puts_the_most_uncertain_first_and_rows_without_a_score_last(
    tmp_path, monkeypatch, model, new, rows, expected, pieces
):
    monkeypatch.setattr("vecuq.table.as_parquet.BATCH_ROWS", pieces)
    for choices, n_rows in (({"sort": True}, 60), ({"top": 9}, 9), ({"top": 58}, 58), ({"top": 9, "sort": True}, 9)):
        with pytest.warns(UserWarning, match="2 of 60 rows"):
            done = workflows.score(model, new, tmp_path / "o.parquet", alpha=0.1, **choices)
        out = pd.read_parquet(tmp_path / "o.parquet")
        order = by_uncertainty(rows, expected)[:n_rows]
        assert out["id"].tolist() == rows["id"].iloc[order].tolist()
        npt.assert_array_equal(out["uncertainty"], expected[order])
        assert done.n_rows == 60
        assert done.n_written == choices.get("top")


def test_top_counts_all_rows_and_says_how_many_it_wrote(run, tmp_path, model, new):
    words = ("score", model, new, "-o", tmp_path / "o.csv", "--alpha", 0.1, "--top", 3)
    assert "58 of 60 rows scored, " in run(*words).stdout
    assert "3 most uncertain -> " in run(*words).stdout
    told = json.loads(run(*words, "--json").stdout)
    assert (told["n_rows"], told["n_written"], told["n_missing"]) == (60, 3, 2)
    assert run("score", model, new, "--top", 0).exit_code == 2


def test_rows_without_a_score_are_counted_apart_from_flagged_ones(run, tmp_path, model, new):
    result = run("score", model, new, "-o", tmp_path / "o.parquet", "--alpha", 0.1)
    out = pd.read_parquet(tmp_path / "o.parquet")
    n_flagged = int((out["p_value"] <= 0.1).sum())
    assert out["flagged"].sum() == n_flagged + 2
    assert (
        f"58 of 60 rows scored, {n_flagged} flagged at alpha 0.1 and 2 because they have no score -> " in result.stdout
    )
    assert (
        "2 of 60 rows have missing or infinite scores and got no uncertainty; `flagged` is true for them"
        in result.stderr
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_row_without_a_score_is_not_among_the_most_uncertain(run, tmp_path, model, new, kind):
    out = tmp_path / f"o.{kind}"
    result = run("score", model, new, "-o", out, "--alpha", 0.1, "--top", 60)
    assert ", 58 most uncertain -> " in result.stdout
    assert "because they have no score" not in result.stdout
    assert "got no uncertainty; they are not among the most uncertain." in result.stderr
    table = (pd.read_csv if kind == "csv" else pd.read_parquet)(out)
    assert len(table) == 58
    assert table["uncertainty"].notna().all()


def test_a_table_without_a_score_has_no_most_uncertain_row(run, tmp_path, model, rows):
    empty = save(tmp_path / "empty.parquet", rows.assign(knn=np.nan))
    result = run("score", model, empty, "-o", tmp_path / "o.csv", "--top", 5)
    assert result.exit_code == 0
    assert "0 of 60 rows scored, 0 most uncertain -> " in result.stdout
    assert len(pd.read_csv(tmp_path / "o.csv")) == 0


# An earlier scoring -------------------------------------------------------------------------------------------------


def test_a_scored_table_is_scored_again_by_replacing_our_columns(run, refused, tmp_path, model, new):
    first, again = tmp_path / "first.parquet", tmp_path / "again.parquet"
    run("score", model, new, "-o", first, "--alpha", 0.1, "--explain")
    assert "or replace them with --replace." in refused("score", model, first, "-o", again)
    assert run("score", model, first, "-o", again, "--replace").exit_code == 0
    assert pq.read_schema(again).names == ["id", "entropy", "knn", "uncertainty", "p_value"]
    plain = tmp_path / "plain.parquet"
    run("score", model, new, "-o", plain)
    assert pq.read_table(again).equals(pq.read_table(plain))


# Calibration rows with gaps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [10**9, 10])
def test_incomplete_calibration_rows_can_be_dropped(run, refused, tmp_path, monkeypatch, make_rows, many):
    monkeypatch.setattr("vecuq.workflows.fitting._MANY_ROWS", many)
    frame = pd.DataFrame(make_rows(3000, 0))
    whole = workflows.fit(save(tmp_path / "whole.parquet", frame), tmp_path / "whole.vecuq").ranker
    gaps = pd.concat([frame[:100], frame[:3] * [np.nan, 1.0], frame[100:], frame[:1] * np.inf], ignore_index=True)
    path = save(tmp_path / "gaps.parquet", gaps)
    if many > len(gaps):
        assert "--missing drop drops them" in refused("fit", path, "-o", tmp_path / "m.vecuq")
    result = run("fit", path, "-o", tmp_path / "m.vecuq", "--missing", "drop")
    assert "dropped        4 rows with missing or infinite scores" in result.stdout
    assert (
        json.loads(run("fit", path, "-o", tmp_path / "m.vecuq", "--missing", "drop", "--json").stdout)["n_dropped"] == 4
    )
    found = load(tmp_path / "m.vecuq")
    assert found.diagnostics.n_map + found.diagnostics.n_held == 3000
    if many > len(gaps):  # streamed rows are held back by their place, which gaps do not change
        npt.assert_array_equal(found.uncertainty(frame), whole.uncertainty(frame))
    assert run("fit", path, "-o", tmp_path / "m.vecuq", "--missing", "nan").exit_code == 2


def test_a_column_without_any_value_is_named_as_the_one_to_leave_out(refused, tmp_path, make_rows):
    path = save(tmp_path / "empty.parquet", pd.DataFrame(make_rows(50, 0)).assign(knn=np.nan))
    words = ("fit", path, "-o", tmp_path / "m.vecuq", "--columns", "entropy,knn")
    told = refused(*words)
    assert "'knn' in 50 of 50 rows. Leave 'knn' out, for no row has a number there." in told
    assert "Drop these" not in told
    assert "None of the 50 calibration rows is complete ('knn': 50 " in refused(*words, "--missing", "drop")


# report -----------------------------------------------------------------------------------------------------------


def test_report_takes_a_rate_labels_and_what_to_do_with_gaps(run, refused, tmp_path, model, rows):
    path = save(tmp_path / "n.parquet", rows.assign(is_ood=[int(k in (5, 40)) for k in range(60)], bad=0))
    page = tmp_path / "page.html"
    words = ("report", model, path, "-o", page)
    assert run(*words, "--alpha", 0.2, "--missing", "marginal", "--ood", "is_ood").exit_code == 0
    content = page.read_text(encoding="utf-8")
    assert "ROC-AUC out-of-distribution" in content
    assert run(*words).exit_code == 0
    assert "ROC-AUC" not in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8") != content
    assert run(*words, "--wrong", "bad").exit_code == 0
    assert "needs at least 999 held-back" in refused(*words, "--alpha", 0.001)
    assert "--missing error refuses rows" in refused(*words, "--missing", "error")
    assert run(*words, "--alpha", 2).exit_code == 2


# Options ------------------------------------------------------------------------------------------------------------


def test_an_option_of_names_is_split_at_commas_unless_it_is_repeated():
    assert listed(["a, b"]) == listed("a,b") == ["a", "b"]
    assert listed(["a", "b,c"]) == ["a", "b,c"]
    assert listed(None) is listed([]) is None
    assert listed([""]) == []


def test_columns_with_commas_in_their_names_can_be_chosen(run, tmp_path, make_rows):
    frame = pd.DataFrame(make_rows(100, 0)).rename(columns={"knn": "distance, scaled"})
    path = save(tmp_path / "c.csv", frame.assign(extra=0.5))
    names = ("--columns", "entropy", "--columns", "distance, scaled")
    assert run("fit", path, "-o", tmp_path / "m.vecuq", *names, "--flip", "entropy").exit_code == 0
    fitted = load(tmp_path / "m.vecuq")
    assert fitted.columns == ("entropy", "distance, scaled")
    assert fitted.flipped == {"entropy"}


def test_messages_of_the_library_become_options():
    assert as_options("Fit with flip=['a', 'b'], missing='drop' and replace=True.") == (
        "Fit with --flip a,b, --missing drop and --replace."
    )
    assert (
        as_options("random_state=3, method='by'. All columns must be") == "--seed 3, --select by. All columns must be"
    )
    assert as_options("missing must be one of 'nan'") == "--missing must be one of 'nan'"


def test_a_confidence_that_is_not_flipped_names_the_option(run, tmp_path, make_rows):
    frame = pd.DataFrame(make_rows(100, 0)).rename(columns={"knn": "confidence"})
    result = run("fit", save(tmp_path / "c.csv", frame), "-o", tmp_path / "m.vecuq")
    assert "fit with --flip confidence." in result.stderr


def test_choices_that_exclude_each_other_are_settings_errors(tmp_path, model, new):
    with pytest.raises(SettingError, match="top must be at least 1"):
        workflows.score(model, new, tmp_path / "o.csv", top=0)
    with pytest.raises(SettingError, match="stdout_format must be one of 'jsonl', 'arrow'"):
        workflows.score(model, new, "-", stdout_format="csv")
    with pytest.raises(SettingError, match="missing must be one of 'error', 'drop'"):
        workflows.fit(new, tmp_path / "m.vecuq", missing="nan")


def test_a_scored_table_is_read_and_converted_once_per_batch(tmp_path, monkeypatch, model, new):
    """The walk: one match of columns, one conversion per batch, the model opened once."""
    from vecuq.table import ScoreTable
    from vecuq.workflows import places

    calls = {"of": 0, "load": 0}
    of, opened = ScoreTable.of, places.load

    def counting(data, **how):
        calls["of"] += 1
        return of(data, **how)

    def counting_load(path):
        calls["load"] += 1
        return opened(path)

    monkeypatch.setattr("vecuq.table.as_parquet.BATCH_ROWS", 20)
    monkeypatch.setattr(ScoreTable, "of", staticmethod(counting))
    monkeypatch.setattr(places, "load", counting_load)
    with pytest.warns(UserWarning, match="2 of 60 rows"):
        workflows.score(model, new, tmp_path / "o.parquet", alpha=0.1, explain=True)
    assert calls == {"of": 3, "load": 1}


def test_scoring_with_a_saved_ranker_does_not_wait_for_scikit_learn(tmp_path, model, new):
    code = "import sys; from vecuq import workflows; workflows.score(*sys.argv[1:]); print('sklearn' in sys.modules)"
    words = [sys.executable, "-W", "ignore", "-c", code, model, new, tmp_path / "o.parquet"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_model_a_page_or_a_folder_does_not_go_to_stdout(refused, tmp_path, model, make_rows):
    table = save(tmp_path / "c.csv", pd.DataFrame(make_rows(100, 0)))
    for words in (("fit", table), ("report", model, table)):
        assert "cannot be written to standard output" in refused(*words, "-o", "-")


def test_an_output_that_a_pattern_would_match_is_refused(refused, tmp_path, model, make_rows):
    save(tmp_path / "part-0.csv", pd.DataFrame(make_rows(20, 0)))
    told = refused("score", model, str(tmp_path / "*.csv"), "-o", tmp_path / "out.csv")
    assert "would be, one of the files that this job reads" in told


def test_a_format_of_stdout_is_refused_for_a_file(refused, tmp_path, model, make_rows):
    table = save(tmp_path / "n.csv", pd.DataFrame(make_rows(20, 0)))
    told = refused("score", model, table, "-o", tmp_path / "o.csv", "--stdout-format", "arrow")
    assert "--stdout-format arrow is for standard output (-)" in told


# Names of outputs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["page.pdf", "page.png", "page"])
def test_a_report_is_written_as_html_only(refused, tmp_path, model, new, name):
    told = refused("report", model, new, "-o", tmp_path / name)
    assert f"{name} does not end in .html; name it {tmp_path / 'page.html'}." in told


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.html", "out.vecuq"])
def test_a_folder_does_not_get_the_name_of_a_file(run, refused, tmp_path, name):
    told = refused("demo", "-o", tmp_path / name)
    assert f"{name} is the name of a file; name a folder, such as {tmp_path / 'out'}." in told
    (tmp_path / name).mkdir()  # somebody wants this name
    assert run("demo", "-o", tmp_path / name).exit_code == 0
