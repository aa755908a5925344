"""The card: true of its file, no promise without its assumption, and every text of a user is text."""

import hashlib
import json
import re
import shlex
import subprocess
import warnings

import numpy as np
import pytest
from carded import KINDS, gate_of, model_of, scores, thing

from vecuq import Gate, Monitor, VecUQ, load
from vecuq.cli.commands import _imported
from vecuq.errors import CalibrationWarning, ModelFileError, TableError
from vecuq.report import card
from vecuq.report.cards.words import HEADS, NOTHING, TO_FILL_IN

# Words of a promise; where one stands, its assumption must follow.
PROMISING = re.compile(r"with confidence|with probability at most|on average over calibration sets", re.IGNORECASE)
WITHOUT = {"flipped, paper": 0, "rows": 2, "few rows": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_promise_never_stands_without_its_assumption_and_theorem(kind):
    made = card(thing(kind))
    assert len(made.promises) == WITHOUT.get(kind, len(made.promises))
    for one in made.promises:
        assert min(len(one.promise), len(one.assumption), len(one.theorem)) > 20
        assert re.search(r"exchangeable|random sample|drawn at random", one.assumption)
        assert re.search(r"\((?:19|20)\d\d\)| (?:19|20)\d\d\b", one.theorem)
    others = [*made.purpose, *made.limits, *(text for text in made.inputs if isinstance(text, str))]
    assert [text for text in others if PROMISING.search(text)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_both_renderings_say_all_of_it(kind):
    from html import unescape

    made = card(thing(kind))
    page = " ".join(unescape(re.sub(r"<[^>]+>", " ", made.to_html())).split())
    sheet = " ".join(unescape(re.sub(r"\\(.)", r"\1", made.to_markdown())).split())
    for text in (page, sheet):
        for one in made.promises:
            after = text.partition(one.promise)[2]
            assert after.index(one.assumption) < after.index(one.theorem)
        for said in (*made.purpose, *made.unpromised, *made.limits, *(check.shows for check in made.checks)):
            assert " ".join(said.split()) in text
        for head in HEADS.values():
            assert head in text or head == "Figures"
    json.dumps(made.to_dict())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "classifier"])
def test_a_file_and_what_was_saved_there_have_the_same_card(kind, tmp_path):
    thing(kind).save(tmp_path / "it.vecuq")
    made, direct = card(tmp_path / "it.vecuq", title="T"), card(thing(kind), title="T")
    assert (made.promises, made.limits, made.evidence) == (direct.promises, direct.limits, direct.evidence)
    facts = dict(made.provenance.rows)
    assert facts["SHA-256 of the file"] == hashlib.sha256((tmp_path / "it.vecuq").read_bytes()).hexdigest()
    assert facts["file"] == "it.vecuq"


def test_the_figures_are_those_of_the_model():
    model = thing("model").ranker_
    made = card(model)
    assert f"above {model.threshold(0.05):.6g} are flagged at alpha 0.05" in made.promises[1].promise
    low, high = model.held.interval(0.05)
    assert f"between {100 * low:.2g} % and {100 * high:.2g} %" in made.promises[1].promise
    assert "150 held-back calibration rows" in made.promises[0].assumption
    assert made.settings is None


def test_settings_that_differ_are_named_with_their_meaning():
    rows = {row[0]: row for row in card(thing("flipped, paper")).settings.rows}
    assert set(rows) == {"overshoot", "holdback"}
    assert rows["overshoot"][1:3] == ("0", "0.5")
    assert "beyond the calibration box" in rows["overshoot"][3]
    assert {row[0] for row in card(thing("guard")).settings.rows} == {"gate: guard"}


def test_where_nothing_is_promised_the_card_says_so():
    made = card(thing("flipped, paper"))
    assert made.promises == ()
    assert f"**{NOTHING}**" in made.to_markdown()
    assert "no calibration rows were held back" in made.unpromised[0]
    few = card(thing("few rows"))
    assert [one.about for one in few.promises] == ["p-values"]
    assert "30 held-back rows deliver rates from 0.032 on" in few.unpromised[0]
    batch = card(thing("rows"))
    assert "nothing is promised about their accuracy" in batch.unpromised[0]
    assert all("right" not in one.promise for one in batch.promises)


def test_a_gate_that_certifies_nothing_promises_nothing_of_accepted_rows():
    with pytest.warns(CalibrationWarning, match="do not prove"):
        gate = gate_of(accuracy=0.999, n_rows=100)
    made = card(gate)
    assert "accepted rows" not in [one.about for one in made.promises]
    assert made.unpromised[0].startswith("Nothing is certified")
    assert made.purpose[0] == "It accepts no rows: the labels did not prove accuracy 0.999."


THEOREMS = {
    "accuracy": "Clopper and Pearson.*Wiens",
    "groups of labels": "betting.*Wiens",
    "quality": "betting.*Wiens",
    "average": "Jin and Candes",
    "recall": "binomial tests.*among the wrong rows",
    "precision": "binomial tests.*among the flagged rows",
    "cost": "every threshold at once",
    "budget": "set without labels",
    "live": "Ville",
}


@pytest.mark.parametrize("kind", THEOREMS)
def test_the_theorem_is_that_of_the_target(kind):
    assert re.search(THEOREMS[kind], card(thing(kind)).promises[0].theorem)


def test_each_category_has_its_promise_and_others_are_named():
    made = card(thing("categories"))
    assert [one.about for one in made.promises[:2]] == ["accepted rows of a", "accepted rows of b"]
    assert "holds by itself" in made.promises[0].promise
    assert any("categories without labels" in text for text in made.unpromised)
    assert [table.title for table in made.evidence] == ["Flags", "What the labels showed", "Categories"]


def test_groups_are_counted_and_named_and_then_no_session_is_a_limit():
    made = card(thing("groups"))
    assert "30 held-back groups" in made.promises[0].assumption
    assert "Lee, Barber and Willett" in made.promises[0].theorem
    assert [text for text in made.limits if text.startswith("Sessions")] == []
    labelled = [text for text in card(thing("groups of labels")).limits if text.startswith("Sessions")]
    assert "no groups of calibration rows" in labelled[0]


def test_a_gate_names_its_model_so_that_it_can_be_recognised(tmp_path):
    model = model_of()
    model.save(tmp_path / "model.vecuq")
    gate_of(load(tmp_path / "model.vecuq"), accuracy=0.85).save(tmp_path / "gate.vecuq")
    facts = dict(card(tmp_path / "gate.vecuq").provenance.rows)
    assert facts["SHA-256 of the model inside"] == hashlib.sha256((tmp_path / "model.vecuq").read_bytes()).hexdigest()


def options_of(command):
    found = {option for one in _imported(command).params for option in (*one.opts, *one.secondary_opts)}
    return {option for option in found if option.startswith("-")}


@pytest.mark.parametrize("kind", KINDS)
def test_every_command_of_the_card_exists_with_its_options(kind):
    for check in card(thing(kind)).checks:
        for line in check.lines:
            if check.language == "python":
                compile(line, "card", "exec")
                continue
            program, *words = shlex.split(line)
            assert program in ("vecuq", "sha256sum")
            if program == "vecuq":
                assert {word for word in words[1:] if word.startswith("-")} <= options_of(words[0])


def test_the_commands_of_a_card_run_as_they_stand(run, tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import csv, parquet

    monkeypatch.chdir(tmp_path)
    tables = [scores(600, seed) for seed in (0, 5, 6)]
    for name, (rows, _) in zip(("calibration", "fresh", "later"), tables, strict=True):
        parquet.write_table(pa.table(rows), f"{name}.parquet")
    csv.write_csv(pa.table({**tables[2][0], "IS_CORRECT": tables[2][1].astype(int)}), "labelled.csv")
    model_of().save("model.vecuq")
    gate_of(load("model.vecuq"), accuracy=0.85).save("gate.vecuq")
    for name in ("model.vecuq", "gate.vecuq"):
        for line in (line for check in card(name).checks for line in check.lines):
            program, *words = shlex.split(line)
            if program == "sha256sum":
                printed = subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
                assert printed.split()[0] in card("gate.vecuq" if name == "gate.vecuq" else name).to_markdown()
            else:
                assert run(*words).exit_code == 0, line


def test_the_commands_of_a_gate_with_groups_or_categories_run_as_they_stand(run, tmp_path, monkeypatch):
    import pyarrow as pa
    from pyarrow import csv, parquet

    monkeypatch.chdir(tmp_path)
    rows, correct = scores(600, 6)
    parts = {"CATEGORY": np.array(["a", "b"])[np.arange(600) % 2], "GROUP": np.arange(600) // 3}
    parquet.write_table(pa.table({**rows, **parts}), "fresh.parquet")
    csv.write_csv(pa.table({**rows, **parts, "IS_CORRECT": correct.astype(int)}), "labelled.csv")
    for kind in ("categories", "groups of labels"):
        thing(kind).save("gate.vecuq")
        lines = [line for check in card("gate.vecuq").checks for line in check.lines]
        tried = [shlex.split(line)[1:] for line in lines if line.startswith(("vecuq audit", "vecuq score"))]
        assert [words[0] for words in tried] == ["audit", "score"]
        assert [run(*words).exit_code for words in tried] == [0, 0], kind


def test_a_gate_that_promises_nothing_has_nothing_to_audit_and_no_limit_of_its_promise():
    with pytest.warns(CalibrationWarning, match="do not prove"):
        made = card(gate_of(accuracy=0.999, n_rows=100))
    assert not any("audit" in line for check in made.checks for line in check.lines)
    assert not any(text.startswith("Categories") for text in made.limits)


def test_the_purpose_names_the_guard_and_speaks_of_thresholds_only_where_there_are_some():
    assert "It never accepts rows with a p-value below 0.05." in card(thing("guard")).purpose[0]
    assert "guard" not in card(thing("accuracy")).purpose[0]
    parts = {"by": np.array(["a", "b"])[np.arange(600) % 2]}
    assert "Every category has a threshold" in card(thing("categories")).purpose[0]
    average = card(gate_of(accuracy=0.8, promise="average", about=parts)).purpose[0]
    assert "threshold" not in average
    assert average.endswith("Every category is decided by itself.")


def test_the_card_says_by_what_a_classifier_is_recognised():
    model = KINDS["classifier"]()
    assert "its probabilities at some points" in card(model).inputs[0]
    model.steps_.probe_ = model.steps_.row_probe_ = None  # as for rows that are no numbers
    assert "another one of the same kind is not noticed" in card(model).inputs[0]


def test_a_promise_is_headed_by_what_it_is_about():
    parts = {"by": np.array(["a", "b"])[np.arange(600) % 2]}
    made = card(gate_of(cost_wrong=10.0, cost_review=1.0, about=parts))
    assert [one.about for one in made.promises[:2]] == ["costs of a", "costs of b"]
    assert card(thing("recall")).promises[0].about == "wrong rows"
    assert card(thing("precision")).promises[0].about == "flagged rows"


def test_of_a_pool_the_card_names_the_categories_and_promises_nothing_of_each():
    names = np.array(["a"] * 560 + ["few"] * 20 + ["<rare>"] * 20)
    made = card(gate_of(accuracy=0.8, about={"by": names}))
    (pool,) = [text for text in made.unpromised if "pool 'pooled'" in text]
    assert "<rare>, few" in pool
    assert not any("pool '" in text for text in card(thing("categories")).unpromised)


def test_categories_that_hold_together_share_the_probability_to_fail():
    parts = {"by": np.array(["a", "b"])[np.arange(600) % 2], "simultaneous": True}
    made = card(gate_of(accuracy=0.8, about=parts)).promises[0]
    assert "hold together, with this confidence" in made.promise
    assert "Bonferroni" in made.theorem
    assert "Bonferroni" not in card(thing("categories")).promises[0].theorem
    average = card(gate_of(accuracy=0.8, promise="average", about=parts)).promises[0]
    assert "confidence" not in average.promise
    assert "Bonferroni" not in average.theorem


def test_groups_of_a_cross_model_are_counted_and_named():
    rows, _ = scores(100, 0)
    model = VecUQ(columns=["entropy", "knn"], flip=[], holdback="cross").fit(rows, groups=np.arange(100) // 4)
    made = card(model)
    assert "New groups of rows are exchangeable with the 25 calibration groups" in made.promises[0].assumption
    assert "Lee, Barber and Willett" in made.promises[0].theorem
    assert not any(text.startswith("Sessions") for text in made.limits)
    assert dict(made.provenance.rows)["held-back groups"] == "25"


HOSTILE = "<script>alert(1)</script>| `x` [a](javascript:b) www.x.org http://y \u202e **b** \n# h"


def test_hostile_names_are_text():
    rows = {HOSTILE: scores(300, 0)[0]["entropy"], "&amp;": scores(300, 0)[0]["knn"]}
    model = VecUQ(columns=list(rows), flip=[]).fit(rows)
    labelled = dict(zip(rows, scores(600, 1)[0].values(), strict=True))
    gate = Gate(model, accuracy=0.8).fit(labelled, scores(600, 1)[1], by=[HOSTILE] * 300 + ["b"] * 300)
    made = card(gate, title=HOSTILE, owner=HOSTILE, intended_use=f"{HOSTILE}\n\n- second", decides=HOSTILE)
    page, sheet = made.to_html(), made.to_markdown()
    assert "<script" not in page
    assert "<script" not in re.sub(r"^```sh\n.*?^```$", "", sheet, flags=re.MULTILINE | re.DOTALL)
    assert "\u202e" not in page + sheet
    assert "&amp;amp;" in page
    assert "&amp;amp;" in sheet
    assert [line for line in sheet.splitlines() if line.startswith("# ")] == [sheet.splitlines()[0]]
    parsed = rendered(sheet)
    assert not {"link_open", "html_inline", "html_block", "image"} & set(parsed)
    assert "code_inline" not in parsed


@pytest.mark.parametrize("words", ["- one", "+ one", "1. one", "2) one", "---", "- - -", "-"])
def test_words_of_the_owner_are_neither_a_list_nor_a_line(words):
    empty, filled = (rendered(card(thing("model"), owner=owner).to_markdown()) for owner in ("one", words))
    assert filled == empty


def rendered(sheet):
    """Return the kinds of tokens that a reader of GitHub's Markdown finds, links by bare addresses included."""
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(sheet)
    return [one.type for token in tokens for one in (token, *(token.children or ()))]


@pytest.mark.parametrize("kind", ["model", "accuracy", "categories", "answers"])
def test_the_markdown_has_the_tables_and_headings_that_were_meant(kind):
    made = card(thing(kind))
    found = rendered(made.to_markdown())
    assert found.count("table_open") == 2 + len(made.evidence) + (made.settings is not None)
    assert found.count("fence") == len(made.checks)


def test_fields_of_the_owner_are_marked_until_they_are_filled_in():
    empty, filled = card(thing("model")), card(thing("model"), owner="A", intended_use="B\n\nC", decides="D")
    assert empty.to_markdown().count(TO_FILL_IN) == 5
    assert filled.to_html().count(TO_FILL_IN) == 2
    assert "> B\n>\n> C" in filled.to_markdown()


def test_what_neither_ranks_nor_decides_has_no_card(tmp_path):
    Monitor(thing("model").ranker_).save(tmp_path / "drift.vecuq")
    with pytest.raises(ModelFileError, match="neither ranks nor decides"):
        card(tmp_path / "drift.vecuq")
    with pytest.raises(TableError, match="got VecUQ"):
        card(VecUQ())
    (tmp_path / "notes.vecuq").write_text("notes")
    with pytest.raises(ModelFileError, match="was not saved by vecuq"):
        card(tmp_path / "notes.vecuq")


def test_a_gate_of_an_object_that_cannot_be_saved_says_what_it_knows():
    class Own:
        def uncertainty(self, rows):
            return np.asarray(rows["entropy"])

    rows, correct = scores(600, 1)
    made = card(Gate(Own(), accuracy=0.8).fit(rows, correct, unlabelled=scores(300, 0)[0]))
    assert made.checks == ()
    assert "an object of the type Own" in made.purpose[1]
    assert dict(made.provenance.rows)["file"].startswith("none")
    assert made.to_html()


# --- the command ---


def test_the_command_writes_markdown_and_html_and_prints(run, tmp_path):
    gate_of(accuracy=0.85).save(tmp_path / "gate.vecuq")
    (tmp_path / "use.txt").write_text("Only digits.\n\nNever letters.\n")
    done = run("card", tmp_path / "gate.vecuq", "-o", tmp_path / "card.md", "--intended-use", tmp_path / "use.txt")
    assert done.exit_code == 0
    assert "3 promises" in done.stdout
    assert "To be filled in by the owner: Owner, Who decides" in done.stderr
    assert "> Only digits.\n>\n> Never letters." in (tmp_path / "card.md").read_text()
    assert run("card", tmp_path / "gate.vecuq", "-o", tmp_path / "card.html", "--owner", "A").exit_code == 0
    assert (tmp_path / "card.html").read_text().startswith("<!doctype html>")
    shown = run("card", tmp_path / "gate.vecuq", "-o", "-").stdout
    assert shown == card(tmp_path / "gate.vecuq").to_markdown()
    found = json.loads(run("card", tmp_path / "gate.vecuq", "-o", "-", "--json").stdout)
    assert found["promises"][0]["promise"].startswith("With confidence 90 %")


def test_the_command_overwrites_nothing_else(refused, tmp_path):
    gate_of(accuracy=0.85).save(tmp_path / "gate.vecuq")
    (tmp_path / "notes.html").write_text("my notes")
    (tmp_path / "use.md").write_text("# Use\n")
    (tmp_path / "rows.csv").write_text("a\n1\n")
    gate = tmp_path / "gate.vecuq"
    (tmp_path / "card.md").write_text(card(gate).to_markdown() + "filled in by hand")
    assert "card.md holds text, not a card to be filled in" in refused("card", gate, "-o", tmp_path / "card.md")
    assert "must end in .md or .html" in refused("card", gate, "-o", gate)
    assert "holds text, not a web page" in refused("card", gate, "-o", tmp_path / "notes.html")
    assert "one of the files" in refused("card", gate, "-o", tmp_path / "use.md", "--owner", tmp_path / "use.md")
    assert "rows.csv is a table" in refused("card", tmp_path / "rows.csv")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xfa")
    assert "not a text in UTF-8" in refused("card", gate, "-o", tmp_path / "c.md", "--owner", tmp_path / "bad.txt")


def test_making_a_card_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            assert card(thing(kind)).to_html().endswith("</html>")


def write_labelled(path, seed, name="ok"):
    import pyarrow as pa
    from pyarrow import csv

    rows, correct = scores(400, seed)
    csv.write_csv(pa.table({**rows, name: correct.astype(int)}), path)
    return correct


def test_labels_that_were_kept_for_it_are_put_beside_the_promises(run, tmp_path):
    correct = write_labelled(tmp_path / "later.csv", 9)
    gate = gate_of(accuracy=0.85)
    gate.save(tmp_path / "gate.vecuq")
    model_of().save(tmp_path / "model.vecuq")
    accepted = gate.accept(scores(400, 9)[0])
    words = ("-o", "-", "--evaluation", tmp_path / "later.csv", "--correct", "ok")
    shown = run("card", tmp_path / "gate.vecuq", *words).stdout
    assert f"| 400, {accepted.sum()} of them accepted |" in shown
    assert f"| error rate of accepted rows | {1 - correct[accepted].mean():.4f} |" in shown
    assert hashlib.sha256((tmp_path / "later.csv").read_bytes()).hexdigest() in shown
    of_model = run("card", tmp_path / "model.vecuq", *words).stdout
    from vecuq.evaluation import roc_auc

    area = roc_auc(load(tmp_path / "model.vecuq").uncertainty(scores(400, 9)[0]), ~correct)
    assert f"| ROC-AUC of the uncertainty for errors | {area:.3f} |" in of_model


def test_a_model_is_measured_with_its_groups_and_without_rows_that_have_no_score(run, refused, tmp_path):
    rows, correct = scores(400, 9)
    lines = [f"{a},{b},{int(ok)},{k // 40}" for k, (a, b, ok) in enumerate(zip(*rows.values(), correct, strict=True))]
    lines[0] = f",{lines[0].split(',', 1)[1]}"
    (tmp_path / "later.csv").write_text("\n".join(["entropy,knn,ok,session", *lines]))
    model_of().save(tmp_path / "model.vecuq")
    words = ("card", tmp_path / "model.vecuq", "-o", "-", "--evaluation", tmp_path / "later.csv", "--correct", "ok")
    alone, grouped = run(*words).stdout, run(*words, "--group", "session").stdout
    assert "| left out, without a score | 1 |" in alone
    by_rows, by_groups = (
        re.search(rf"for independent {unit} \| (.*) \|", text)[1]
        for unit, text in (("rows", alone), ("groups", grouped))
    )
    assert by_rows != by_groups
    assert "not by category. Leave --by out" in refused(*words, "--by", "session")


def test_a_text_file_of_the_owner_that_is_not_there_is_refused(refused, run, tmp_path):
    model_of().save(tmp_path / "model.vecuq")
    words = ("card", tmp_path / "model.vecuq", "-o", "-", "--owner")
    assert "There is no file" in refused(*words, tmp_path / "owner.md")
    assert "See our file owner" in run(*words, "See our file owner.md").stdout


def test_labels_for_a_card_need_their_column_and_a_thing_that_they_can_measure(run, refused, tmp_path):
    write_labelled(tmp_path / "later.csv", 9)
    thing("budget").save(tmp_path / "budget.vecuq")
    thing("model").save(tmp_path / "model.vecuq")
    labels = ("--evaluation", tmp_path / "later.csv")
    assert run("card", tmp_path / "budget.vecuq", *labels).exit_code == 2
    assert run("card", tmp_path / "budget.vecuq", "--correct", "ok").exit_code == 2
    out = ("-o", tmp_path / "c.md")
    assert "takes a gate with an accuracy" in refused(
        "card", tmp_path / "budget.vecuq", *out, *labels, "--correct", "ok"
    )
    assert "lacks ['no']" in refused("card", tmp_path / "model.vecuq", *out, *labels, "--correct", "no")


def test_ties_are_said_where_no_interval_holds():
    made = card(thing("answers"))
    flags = next(one for one in made.promises if one.about == "flags")
    assert "Scores tie at the threshold, so fewer rows are flagged" in flags.promise
    assert "nine flag between" not in flags.promise
    assert made.evidence[0].rows[1][2] == "fewer: scores tie"
    assert "nine flag between" in card(thing("model")).promises[1].promise


def test_a_promise_that_the_audit_contradicts_is_withdrawn():
    from vecuq import LiveGate

    rows, _ = scores(800, 3)
    made = LiveGate(gate_of(accuracy=0.8), audit=0.5)
    done = made.decide(rows, ids=range(800))
    made.update(np.flatnonzero(done.audit), np.zeros(done.audit.sum()))
    assert made.state == "broken"
    found = card(made)
    assert "accepted rows" not in [one.about for one in found.promises]
    assert any("not promised any more" in text for text in found.unpromised)


def test_of_many_categories_one_promise_speaks_for_all():
    gate = gate_of(accuracy=0.7, n_rows=2_400, about={"by": np.arange(2_400) % 12})
    made = card(gate)
    assert [one.about for one in made.promises][:2] == ["accepted rows, by category", "p-values"]
    assert made.promises[0].promise.startswith("12 of 12 categories are certified, each by itself.")
    assert len(next(table for table in made.evidence if table.title == "Categories").rows) == 12
