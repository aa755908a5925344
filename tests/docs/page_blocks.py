"""The code blocks of a Markdown page, in page order, each with its marks.

The rules are those of CONTRIBUTING.md: every fence has a language; `python`, `sh` and `js` are run; a mark stands on
the line above its block and says why; `<!-- run` ... `-->` holds Python (with `run sh`, commands) that prepares the
page and is not shown.
"""

import json
import re
from dataclasses import dataclass

RUN = ("python", "sh", "js")
SHOWN = ("text", "json", "html", "css", "yaml", "toml", "ini", "csv", "sql", "latex", "bibtex", "dockerfile")
# What people write for languages that have another name here.
OTHER_NAMES = {"bash": "sh", "shell": "sh", "console": "sh", "py": "python", "pycon": "python", "python3": "python"}
# Directives of Sphinx that show code and would not be run.
CODE_DIRECTIVES = ("code", "code-block", "code-cell", "doctest", "ipython", "sourcecode", "testcode")

FENCE = re.compile(r"^(?P<indent>\s*)(?P<ticks>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
MARK = re.compile(r"^\s*<!--\s*(?P<mark>skip|fails|output)\b\s*:?\s*(?P<reason>.*?)\s*-->\s*$")
HIDDEN = re.compile(r"^\s*<!--\s*run\b\s*(?P<language>\w*)\s*$")
QUOTED = re.compile(r"^\s*(>\s*)+(`{3,}|~{3,})")


class PageError(ValueError):
    """A page that breaks the rules of code blocks."""


@dataclass(frozen=True)
class Block:
    """One block of a page."""

    language: str
    code: str
    line: int  # of its first line of code, in the page
    hidden: bool = False
    skip: str = ""  # why it is not run
    fails: str = ""  # why it must fail
    output: bool = False  # whether it shows what the block before it prints

    @property
    def runs(self):
        return self.language in RUN and not self.skip


def blocks_of(text, page="page.md"):
    """Return the blocks of a page; raise PageError where it breaks the rules."""
    found = list(_walk(text.splitlines(), page, first=1))
    for before, block in zip([None, *found], found, strict=False):
        _check(block, before, page)
    return found


def _walk(lines, page, first):
    """Yield the blocks of some lines of a page, of which the first has this number."""
    marks, k = {}, 0
    while k < len(lines):
        line, number = lines[k], first + k
        if mark := MARK.match(line):
            marks[mark["mark"]] = _reason(mark, f"{page}:{number}")
        elif fence := FENCE.match(line):
            inside = _inside(lines, k, fence, f"{page}:{number}")
            yield from _fenced(inside, fence["info"].strip(), marks, page, number + 1)
            marks, k = {}, k + len(inside) + 1
        elif marks:
            raise PageError(f"{page}:{number}: there is a mark above and no block below it; put it directly above one.")
        elif hidden := HIDDEN.match(line):
            inside = _until(lines[k + 1 :], "-->", f"{page}:{number}")
            yield Block(hidden["language"] or "python", _joined(inside), number + 1, hidden=True)
            k += len(inside) + 1
        elif QUOTED.match(line):
            raise PageError(f"{page}:{number}: a block in a quotation is not run; take it out of the quotation.")
        k += 1


def _reason(mark, place):
    """Return why a block is marked; output needs no reason."""
    if mark["mark"] == "output":
        return True
    if not mark["reason"]:
        raise PageError(f"{place}: `{mark['mark']}` needs a reason: <!-- {mark['mark']}: reason -->.")
    return mark["reason"]


def _inside(lines, k, fence, place):
    """Return the lines between a fence and its end, without the indentation of the fence."""
    end = re.compile(rf"^\s*{re.escape(fence['ticks'][0])}{{{len(fence['ticks'])},}}\s*$")
    indent = len(fence["indent"])
    for n, line in enumerate(lines[k + 1 :]):
        if end.match(line):
            return [one[indent:] if not one[:indent].strip() else one for one in lines[k + 1 : k + 1 + n]]
    raise PageError(f"{place}: this block has no end.")


def _until(lines, end, place):
    for n, line in enumerate(lines):
        if line.strip() == end:
            return lines[:n]
    raise PageError(f"{place}: this comment has no end; `-->` must stand on a line of its own.")


def _fenced(lines, info, marks, page, first):
    """Yield the block, or the blocks inside of a directive such as a note or a tab."""
    place = f"{page}:{first - 1}"
    if not info:
        raise PageError(f"{place}: this fence has no language; write python or sh if it is to run, or text.")
    if not info.startswith("{"):
        yield Block(_language(info.split()[0], place), _joined(lines), first, **marks)
        return
    if info[1:].partition("}")[0] in CODE_DIRECTIVES:
        raise PageError(f"{place}: code in {info} is not run; write a fence with its language.")
    if marks:
        raise PageError(f"{place}: {list(marks)} stands above a directive; put it above the block inside.")
    yield from _walk(lines, page, first)


def _language(word, place):
    if word in (*RUN, *SHOWN):
        return word
    known = f"{word} is not known here. Take one of {', '.join((*RUN, *SHOWN))}"
    raise PageError(f"{place}: {f'write {OTHER_NAMES[word]}, not {word}' if word in OTHER_NAMES else known}.")


def _joined(lines):
    return "".join(f"{line}\n" for line in lines)


def _check(block, before, page):
    """Refuse marks that would do nothing, code that cannot be run, and JSON that is none."""
    place = f"{page}:{block.line}"
    if (block.skip or block.fails) and block.language not in RUN:
        raise PageError(f"{place}: a block of {block.language} is not run anyway; remove its mark.")
    if block.skip and block.fails:
        raise PageError(f"{place}: a block is skipped or it fails, not both.")
    if block.output and (block.language not in SHOWN or before is None or not before.runs):
        raise PageError(f"{place}: `output` stands above text that directly follows a block that is run.")
    if block.language == "python":
        _compiled(block, place)
    if block.language == "json" and not _is_json(block.code):
        raise PageError(f"{place}: this is not JSON, whole or line by line; call it text.")


def _compiled(block, place):
    try:
        compile(block.code, place, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise PageError(f"{place}: line {error.lineno} of this block is not Python: {error.msg}.") from None


def _is_json(code):
    for parts in ([code], [line for line in code.splitlines() if line.strip()]):
        try:
            for part in parts:
                json.loads(part)
        except ValueError:
            continue
        return True
    return False
