"""Runs the blocks of a page in order: one namespace, one folder, one environment for all of them."""

import gc
import io
import os
import re
import sys
import warnings
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path

from page_blocks import RUN, blocks_of
from page_commands import (
    REDIRECTED,
    CommandError,
    check_command,
    commands_in,
    is_plain,
    make_programs,
    run_in_shell,
    run_script,
    run_vecuq,
    words_of,
)
from page_outputs import difference
from page_server import language_model
from started import started

# As on a terminal of this width without colours, so that tables fit into a page.
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "MPLBACKEND": "Agg"}
# Commands that are checked, never run: they would change the environment of whoever runs the tests.
ONLY_CHECKED = ("pip", "uv", "make")
PORT = "8000"


class BlockFailedError(AssertionError):
    """A block of a page that did not do what the page says."""


def run_page(page, folder):
    """Run all blocks of a page in a new folder; raise BlockFailedError at the first that fails."""
    run_text(page.read_text("utf-8"), page, folder)


def run_text(text, page, folder):
    """Run the blocks of a text as those of this page."""
    blocks = blocks_of(text, page.name)
    if not any(block.language in RUN for block in blocks):
        return
    with alone(folder / "page"), ExitStack() as services:
        run = PageRun(page, make_programs(folder / "programs"), services)
        for block in blocks:
            run.block(block)
        run.check_services()
        run.names.clear()
        gc.collect()  # what a page leaves open is seen here, not at the end of all tests


@contextmanager
def alone(folder):
    """Work in an empty folder, and leave directory, environment, modules, path and pictures as they were."""
    folder.mkdir()
    here, variables, path, modules = Path.cwd(), dict(os.environ), list(sys.path), set(sys.modules)
    os.environ.update(PLAIN)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield folder
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)
        sys.path[:] = path
        for name in [name for name in sys.modules if name not in modules and _lies_in(sys.modules[name], folder)]:
            del sys.modules[name]
        close_pictures()


@contextmanager
def strict_warnings():
    """Turn warnings into errors, but for those that other packages give each other about their future."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for package in ("dask", "distributed"):
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=rf"{package}\.")
        yield


def _lies_in(module, folder):
    return str(getattr(module, "__file__", None) or "").startswith(str(folder))


def close_pictures():
    """Forget the pictures that a page drew."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


class PageRun:
    """What is known while a page is run."""

    def __init__(self, page, programs, services):
        self.page, self.programs, self.services = page, programs, services
        self.names = {"__name__": "__main__", "serve_model": self.serve_model, "listens_at": self.listens_at}
        self.addresses = {}  # where services of the page listen, by the port that the page names
        self.waiting = {}  # services that nobody has called yet: the words of the command, by the port
        self.said = ""

    def block(self, block):
        """Run a block, check a skipped one, or compare what was printed with what the page shows."""
        if block.output:
            self._compare(block)
        elif block.skip:
            self._check(block)
        elif block.runs:
            self._run(block)

    def _run(self, block):
        """Run a block; it must fail if the page says so, and must not otherwise."""
        try:
            {"python": self._python, "sh": self._sh, "js": self._js}[block.language](block)
        except (Exception, SystemExit) as error:
            if block.fails:
                self.said += f"{type(error).__name__}: {error}" if block.language == "python" else ""
                return
            raise BlockFailedError(f"{self._place(block)}: {type(error).__name__}: {error}") from error
        if block.fails:
            raise BlockFailedError(f"{self._place(block)}: the page says that this fails, and it does not.")

    def _check(self, block):
        """Check the commands of a block that is not run, as far as they are ours; its Python compiles already."""
        if block.language == "sh":
            for text in commands_in(block.code):
                try:
                    check_command(text)
                except CommandError as error:
                    if "vecuq" in str(error):
                        raise BlockFailedError(f"{self._place(block)}: {error}") from None

    def _compare(self, block):
        found = difference(block.code, self.said)
        if found:
            raise BlockFailedError(f"{self._place(block)}: {found}\nIt printed:\n{self.said}")

    def _place(self, block):
        return f"{self.page}:{block.line}"

    def _here(self, text):
        """Replace the addresses that the page names by those where its services listen."""
        for port, words in list(self.waiting.items()):
            if any(word in text for word in (f":{port}", *_after(words, "--store"))):
                self._start(port, self.waiting.pop(port))
        for port, found in self.addresses.items():
            text = re.sub(rf"(?:127\.0\.0\.1|localhost):{port}\b", f"127.0.0.1:{found}", text)
        return text

    def _python(self, block):
        """Run Python; line numbers in tracebacks are those of the page."""
        code = compile("\n" * (block.line - 1) + self._here(block.code), str(self.page), "exec", dont_inherit=True)
        printed = io.StringIO()
        try:
            with strict_warnings(), redirect_stdout(printed):
                exec(code, self.names)  # noqa: S102 - our own text
        finally:
            self._keep(printed.getvalue())

    def _keep(self, said):
        self.said = said
        sys.stdout.write(said)  # pytest shows it beside a failure

    def _sh(self, block):
        said = []
        try:
            for text in commands_in(block.code):
                check_command(text)
                said.append(self._command(self._here(text)))
        except FailedCommandError as error:
            said.append(error.said)
            raise
        finally:
            self._keep("".join(said))

    def _js(self, block):
        code, out, errors = run_script(self._here(block.code))
        self._keep(out + errors)
        _checked("node", code, out + errors)

    def _command(self, text):
        """Run one command line; return what it printed."""
        words = words_of(text)
        if words[0] in ONLY_CHECKED:
            return ""
        if words[0] == "cd" and is_plain(text):
            os.chdir(words[1])
            return ""
        if words[0] == "export":
            return self._export(text)
        if words[:2] == ["vecuq", "serve"] and not {"--check", "--help"} & set(words):
            return self._serve([word for word in words[2:] if word != "&"])
        redirected = REDIRECTED.match(text)
        if words[0] == "vecuq" and redirected and is_plain(redirected["command"]):
            code, out, errors = run_vecuq(words_of(redirected["command"])[1:])
            Path(redirected["file"]).write_text(out, "utf-8")
            return _checked(text, code, errors)
        if words[0] == "vecuq" and is_plain(text):
            code, out, errors = run_vecuq(words[1:])
        else:
            code, out, errors = run_in_shell(text, self.programs)
        return _checked(text, code, out + errors)

    def _export(self, text):
        """Set a variable for the rest of the page."""
        name = words_of(text)[1].partition("=")[0]
        code, out, errors = run_in_shell(f'{text}\nprintf %s "${name}"', self.programs)
        os.environ[name] = out
        return _checked(text, code, errors)

    def _serve(self, words):
        """Note a service; it starts when the page calls it or reads its store, and is only checked if it never does."""
        self.check_services()
        self.waiting[next(iter(_after(words, "--port")), PORT)] = words
        return ""

    def check_services(self):
        """Let services that nobody called load and check all that they would serve."""
        while self.waiting:
            _, words = self.waiting.popitem()
            code, out, errors = run_vecuq(["serve", *words, "--check"])
            _checked("vecuq serve " + " ".join(words), code, out + errors)

    def _start(self, port, words):
        """Start a service on a free port; it ends with the page."""
        ours = {name: value for name, value in os.environ.items() if name.startswith("VECUQ_")}
        self.addresses[port] = self.services.enter_context(started(*words, **ours)).port

    def listens_at(self, port, address):
        """Say where something really listens that the page calls by this port; for hidden preparation."""
        self.addresses[str(port)] = str(address).rpartition(":")[2]

    def serve_model(self, port):
        """Let a stand-in for a language model listen where the page says; for hidden preparation."""
        self.addresses[str(port)] = self.services.enter_context(language_model())


class FailedCommandError(CommandError):
    """A command whose exit code is not 0, and what it printed."""

    def __init__(self, text, code, said):
        super().__init__(f"`{text}` ended with exit code {code}:\n{said}")
        self.said = said


def _after(words, option):
    """Return the word after an option, in a list; an empty list without the option."""
    return words[words.index(option) + 1 :][:1] if option in words else []


def _checked(text, code, said):
    if code:
        raise FailedCommandError(text, code, said)
    return said
