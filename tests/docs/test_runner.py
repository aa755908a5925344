"""The runner of pages fails where a page is wrong, and only there."""

import shutil
from pathlib import Path

import pytest
from page_blocks import PageError, blocks_of
from page_commands import CommandError, check_command, commands_in
from page_outputs import difference
from page_run import BlockFailedError, run_text

PAGE = Path("docs/page.md")


def fenced(language, code):
    return f"```{language}\n{code}\n```\n"


def python(code):
    return fenced("python", code)


def sh(code):
    return fenced("sh", code)


@pytest.fixture
def run(tmp_path):
    """Run a text as a page."""
    return lambda *parts: run_text("\n".join(parts), PAGE, tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (fenced("", "x = 1"), r"page.md:1: this fence has no language"),
        (fenced("bash", "ls"), r"write sh, not bash"),
        (fenced("brainfuck", "+"), r"brainfuck is not known here"),
        (fenced("{code-block} python", "x = 1"), r"is not run; write a fence"),
        ("<!-- skip -->\n" + python("x = 1"), r"`skip` needs a reason"),
        ("<!-- fails: -->\n" + python("x = 1"), r"`fails` needs a reason"),
        ("<!-- skip: no torch -->\n\n" + python("x = 1"), r"a mark above and no block below"),
        ("<!-- skip: no torch -->\n" + fenced("text", "x"), r"is not run anyway"),
        ("<!-- skip: no torch -->\n" + python("x = = 1"), r"is not Python"),
        ("<!-- skip: a -->\n<!-- fails: b -->\n" + python("x"), r"not both"),
        ("<!-- output -->\n" + fenced("text", "x"), r"directly follows a block that is run"),
        ("```python\nx = 1\n", r"has no end"),
        ("<!-- run\nx = 1\n", r"`-->` must stand on a line of its own"),
        ("> ```python\n> x = 1\n> ```\n", r"take it out of the quotation"),
        (fenced("json", "{oops}"), r"this is not JSON"),
    ],
)
def test_a_page_that_breaks_the_rules_is_refused(text, complaint):
    with pytest.raises(PageError, match=complaint):
        blocks_of(text, "page.md")


def test_blocks_are_found_in_lists_notes_and_longer_fences():
    text = "1. One:\n\n   ```python\n   if 1:\n       x = 1\n   ```\n\n````{note}\n```sh\nls\n```\n````\n"
    text += fenced("json", '{"a": 1}\n{"a": 2}') + "~~~text\n```\n~~~\n"
    assert [(one.language, one.code, one.line) for one in blocks_of(text)] == [
        ("python", "if 1:\n    x = 1\n", 4),
        ("sh", "ls\n", 10),
        ("json", '{"a": 1}\n{"a": 2}\n', 14),
        ("text", "```\n", 18),
    ]


def test_a_page_has_one_namespace_and_one_folder(run):
    hidden = "<!-- run\nfrom pathlib import Path\nPath('a.txt').write_text('7')\n-->\n"
    run(python("x = 6"), hidden, sh("cp a.txt b.txt"), python("assert int(Path('b.txt').read_text()) == x + 1"))


@pytest.mark.parametrize(
    "block",
    [
        python("assert 1 == 2"),
        python("import sys\nsys.exit(1)"),
        python("import warnings\nwarnings.warn('look')"),
        "<!-- run\n1 / 0\n-->\n",
        fenced("js", "gone();"),
        sh("ls no-such-file"),
        sh("vecuq info no-such-file.vecuq"),
        sh("vecuq info no-such-file.vecuq | head -1"),
        sh("vecuq list measures > \\\n no-such-folder/list.txt"),
        "<!-- fails: it does not -->\n" + python("x = 1"),
        "<!-- fails: it does not -->\n" + sh("true"),
        python("print('one')") + "<!-- output -->\n" + fenced("text", "two"),
        "<!-- skip: no file -->\n" + sh("vecuq fit calibration.csv --no-such-option"),
        sh("vecuq no-such-command"),
    ],
)
def test_a_block_that_fails_fails_its_page(run, block):
    if block.startswith("```js") and shutil.which("node") is None:
        pytest.skip("node is not installed, which runs JavaScript")
    with pytest.raises(BlockFailedError, match=r"page\.md:\d+: "):
        run(block)


def test_the_place_of_the_failure_is_that_of_the_line(run):
    with pytest.raises(BlockFailedError, match=r"docs/page\.md:8: ZeroDivisionError") as failed:
        run("# A page\n", python("x = 1"), python("x = 1\nx / 0"))
    last = failed.value.__cause__.__traceback__
    while last.tb_next:
        last = last.tb_next
    assert last.tb_lineno == 9


def test_a_command_may_be_said_to_fail_and_its_message_be_shown(run):
    fails = "<!-- fails: there is no such file -->\n" + sh("vecuq info gone.vecuq")
    run(fails + "<!-- output -->\n" + fenced("text", "error: There ... gone.vecuq."))


def test_errors_that_a_page_shows_are_compared(run):
    fails = "<!-- fails: nothing to divide by -->\n" + python("1 / 0")
    run(fails + "<!-- output -->\n" + fenced("text", "ZeroDivisionError: division by zero"))


def test_a_skipped_block_is_not_run(run):
    run("<!-- skip: it would fail -->\n" + python("1 / 0"), "<!-- skip: no torch here -->\n" + sh("torchrun x.py"))


def test_a_module_that_a_page_writes_is_gone_with_it(run):
    import sys

    run(sh("echo 'x = 1' > of_a_page.py"), python("import of_a_page\nassert of_a_page.x == 1"))
    assert "of_a_page" not in sys.modules


def test_commands_go_on_after_a_backslash_within_quotes_and_here_documents():
    code = "# a remark\nvecuq info \\\n    model.vecuq\necho 'a\nb'\ncat > x <<'EOF'\nit's\nEOF\n\nls  # here\n"
    assert commands_in(code) == [
        "vecuq info \\\n    model.vecuq",
        "echo 'a\nb'",
        "cat > x <<'EOF'\nit's\nEOF",
        "ls  # here",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rm -rf data", "`rm` is not among the tools"),
        ("cat x | sh", "`sh` is not among the tools"),
        ("curl -s https://example.org/x", "calls another machine"),
        ("curl http://127.0.0.1:8000/health http://10.0.0.1/", "calls another machine"),
        ("pip install 'vecuq[everything]'", "no extra"),
        ("make coffee", "no target"),
        ("vecuq fit x.csv --colour red", "No such option"),
        ("VECUQ_API_KEY=x vecuq brew", "No such command 'brew'"),
    ],
)
def test_commands_that_a_page_must_not_run_are_refused(text, complaint):
    with pytest.raises(CommandError, match=complaint):
        check_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "vecuq fit x.csv --columns a,b -o y.vecuq",
        "vecuq score m.vecuq x/ --jobs 2 --debug",
        "pip install 'vecuq[dask]' pandas",
        "make test",
        "curl -s http://127.0.0.1:8000/health | head -c 10",
        "ls > x",
    ],
)
def test_harmless_commands_are_taken(text):
    check_command(text)


def test_a_service_answers_where_the_page_says(run):
    made = "<!-- run\nfrom page_data import save_judge\nsave_judge('bot.vecuq')\n-->\n"
    run(made, sh("vecuq serve bot.vecuq --port 8123\ncurl -s http://localhost:8123/health | grep -c '{'"))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command", ["vecuq serve gone.vecuq", "vecuq serve gone.vecuq\ncurl -s http://127.0.0.1:8000/"]
)
def test_a_service_that_cannot_start_fails_its_page(run, command):
    with pytest.raises(AssertionError, match="gone"):
        run(sh(command))


def test_variables_and_redirections_hold_for_the_page(run):
    run(
        sh("export WHO=$(echo me)\nexport VECUQ_X='a b'\nvecuq --version > version.txt\nmkdir sub\ncd sub"),
        python(
            "import os\nassert (os.environ['WHO'], os.environ['VECUQ_X'], os.getcwd()[-4:]) == ('me', 'a b', '/sub')"
        ),
        python(
            "from pathlib import Path\nimport vecuq\nassert vecuq.__version__ in Path('../version.txt').read_text()"
        ),
    )
    assert "VECUQ_X" not in __import__("os").environ


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("a  b", "a b\n", True),
        ("a b", "a b c", False),
        ("a ... c", "a b b c", True),
        ("a ... c", "a b c d", False),
        ("a ...", "a b c d", True),
        ("... d", "a b c d", True),
        ("...", "", True),
        ("ab", "a b", False),
        ("a b", "ab", False),
        ('{"a": 0.99, "b": "...", "c": 1}', '{"a":0.987,"b":"x y","c":1}', True),
        ('{"a": 0.99, "b": "...", "c": 1}', '{"a":0.967,"b":"x y","c":1}', False),
        ("a ... 5 rows ...", "a 3 rows and 5 rows or more", True),
        ("", "a", False),
        ("p=0.123,", "p=0.124,", True),
        ("p=0.123,", "p=0.133,", False),
        ("1.20e-3", "1.21e-03", True),
        ("1.20e-3", "1.40e-3", False),
        ("5 rows", "6 rows", False),
        ("1,204.5 s", "1,210.0 s", True),
    ],
)
def test_what_is_printed_is_compared_loosely(shown, printed, agree):
    assert (difference(shown, printed) == "") is agree
