"""FieldMap: which fields of a record are the question, the answer, the samples and the rest, as the user says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vecuq._check import one_line
from vecuq.answers.fields import as_list, as_name, as_text, as_texts, digest_of, plain_fields
from vecuq.answers.parts import Part
from vecuq.answers.paths import JsonPath
from vecuq.answers.readers.columns import parts_of_row
from vecuq.answers.readers.messages import conversation
from vecuq.answers.readers.rows import Rows, Spoken, spoken
from vecuq.answers.schema import MOST_ANSWERS, changed
from vecuq.answers.tokens import logprob
from vecuq.errors import SettingError, TableError

KEYS = ("records", "id", "question", "answer", "samples", "references", "logprobs", "tokens", "quality")
_VERDICTS = {"true": 1.0, "false": 0.0, "c": 1.0, "i": 0.0}


@dataclass
class FieldMap:
    """Names or paths of the fields of a record; see ``map=`` of :func:`read_answers`.

    Parameters
    ----------
    paths
        A path for some of ``KEYS``. ``records`` is where the records lie in a document.

    Examples
    --------
    >>> named = FieldMap.of({"answer": "output.text", "samples": "runs[*].text"})
    >>> [(part.role, part.answers[0].text) for part in named.parts({"output": {"text": "a"}, "runs": [{"text": "b"}]})]
    [('greedy', 'a'), ('samples', 'b')]
    """

    paths: dict[str, JsonPath]
    _seen: set[str] = field(default_factory=set)
    _first: Mapping[str, Any] | None = None
    _sets: set[bytes] = field(default_factory=set)
    _n_together: int = 0

    @staticmethod
    def of(given: Mapping[str, str]) -> FieldMap:
        """Return the map that some names mean; a key that is not known is refused."""
        unknown = [key for key in given if key not in KEYS]
        if unknown:
            raise SettingError(f"map= has no {one_line(unknown[0], most=40)!r}; it may have {', '.join(KEYS)}.")
        paths = {key: JsonPath.of(text) for key, text in given.items()}
        if "records" in paths and any(isinstance(step, int) for step in paths["records"].steps):
            raise SettingError(
                f"The path to the records is of names and [*]; got {one_line(given['records'], most=60)!r}."
            )
        if set(paths) - {"records"} and not {"answer", "samples"} & set(paths):
            raise SettingError(
                "map= needs the field of the answer, of the samples, or of both, as in map='answer=output.text'."
            )
        return FieldMap(paths)

    @property
    def records(self) -> JsonPath | None:
        """Where the records lie in a document."""
        return self.paths.get("records")

    @property
    def names_fields(self) -> bool:
        """Whether the map names more than where the records lie."""
        return bool(set(self.paths) - {"records"})

    def parts(self, fields: Mapping[str, Any], *, number: int | None = None) -> list[Part]:
        """Return the parts of a record: its answer, which is greedy, and its samples.

        ``number`` names a record that has neither an id nor a question, so that both parts meet.
        """
        self._first = fields if self._first is None else self._first
        answer, samples = self._answer(fields), self._samples(fields)
        if answer is None and not samples:
            raise TableError(f"neither an answer nor samples: {self._absence(fields)}")
        name, question = as_name(self._one(fields, "id"), "id"), conversation(self._one(fields, "question"))
        numbered = name is question is None is not number and bool(answer and samples)
        shared = Part(
            (),
            id=str(number) if numbered else name,
            question=question,
            references=as_texts(_listed(self._one(fields, "references", many=True)), "references"),
            quality=_verdict(self._one(fields, "quality")),
            meta=plain_fields(fields),
            is_numbered=numbered,
        )
        if len(samples) > 1:
            self._count(shared.id or question)
        return parts_of_row(shared, answer, samples)

    def _count(self, name: str | None) -> None:
        """Count a set of samples whose question had one before."""
        known = None if name is None else digest_of(name)
        self._n_together += known in self._sets
        self._sets |= set() if known is None else {known}

    @property
    def notes(self) -> list[str]:
        """One sentence where several sets of samples became one."""
        if not self._n_together:
            return []
        return [
            f"{self._n_together:,} records have the id or question of an earlier one; their samples count together. "
            f"Leave out id and question of the map to keep them apart."
        ]

    def refuse_unseen(self) -> None:
        """Raise if a field that was named is in no record."""
        for key, path in self.paths.items():
            known = key == "records" or key in self._seen or self._first is None
            if not known and not path.found(self._first or {}):
                where = path.nowhere(self._first or {})
                raise TableError(f"map= names {path.text!r} for {key}, and no record has it: in the first, {where}")

    def _absence(self, fields: Mapping[str, Any]) -> str:
        asked = [self.paths[key] for key in ("answer", "samples") if key in self.paths]
        return "; ".join(path.nowhere(fields) for path in asked)

    def _found(self, fields: Mapping[str, Any], key: str) -> list[Any]:
        found = self.paths[key].found(fields) if key in self.paths else []
        if found:
            self._seen.add(key)
        return found

    def _one(self, fields: Mapping[str, Any], key: str, *, many: bool = False) -> Any:
        """Return what a path leads to; with ``many``, a list if it may lead to several places."""
        found = [one for one in self._found(fields, key) if one is not None]
        if many and found and self.paths[key].is_many:
            return found
        if len(found) > 1:
            raise TableError(f"{self.paths[key].text!r}, the {key}, leads to {len(found):,} values; one was expected.")
        return found[0] if found else None

    def _answer(self, fields: Mapping[str, Any]) -> Spoken | None:
        said = self._one(fields, "answer")
        if said is None:
            return None
        text = _text(said, f"{self.paths['answer'].text!r}, the answer,")
        return _with_tokens(text, self._tokens(fields, "logprobs"), self._tokens(fields, "tokens"))

    def _tokens(self, fields: Mapping[str, Any], key: str) -> Any:
        return _listed(self._one(fields, key, many=True))

    def _samples(self, fields: Mapping[str, Any]) -> list[Spoken]:
        given = _listed(self._one(fields, "samples", many=True))
        if given is None:
            return []
        where = f"{self.paths['samples'].text!r}, the samples,"
        listed = [one for one in as_list(given, where, most=MOST_ANSWERS) if one is not None]
        texts = [_text(one, where) for one in listed]
        if "answer" in self.paths:  # log-probs and tokens are those of the answer
            return [spoken(text, None) for text in texts]
        values, tokens = (_per_sample(self._tokens(fields, key), len(texts), key) for key in ("logprobs", "tokens"))
        return [_with_tokens(text, values[k], tokens[k]) for k, text in enumerate(texts)]


def _text(value: Any, where: str) -> str:
    """Return an answer as text; a number is spelt out, an object is refused with the fields that it has."""
    if isinstance(value, Mapping):
        raise TableError(f"{where} leads to an object; name a field of it: {_names(value)}.")
    if isinstance(value, list):
        raise TableError(f"{where} leads to a list of {len(value):,}; add [*] for all of its entries, or [0].")
    (text,) = as_texts(value, where)
    return text


def _names(fields: Mapping[str, Any]) -> str:
    return ", ".join(one_line(name, most=30) for name in list(fields)[:8])


def _listed(value: Any) -> Any:
    """Return a value; a text that is a JSON list, as a table may hold it, becomes the list."""
    if isinstance(value, str) and value[:1] == "[" and value.rstrip().endswith("]"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _per_sample(values: Any, n_samples: int, key: str) -> list[Any]:
    """Return the tokens of every sample: a list of lists, or of total log-probs."""
    if values is None:
        return [None] * n_samples
    listed = as_list(values, key)
    if len(listed) != n_samples:
        raise TableError(f"the {key} must have one entry per sample, {n_samples:,}; got {len(listed):,}.")
    return listed


def _with_tokens(text: str, values: Any, tokens: Any) -> Spoken:
    """Return an answer with log-probs, one per token or a single total, and the tokens if they are known."""
    total = isinstance(values, int | float)
    listed = None if values is None or total else tuple(logprob(one) for one in as_list(values, "logprobs"))
    spelled = None if tokens is None else tuple(as_text(one, "a token") for one in as_list(tokens, "tokens"))
    if spelled is not None and listed is not None and len(spelled) != len(listed):
        raise TableError(f"there are {len(spelled):,} tokens and {len(listed):,} logprobs; one each was expected.")
    found = spoken(text, None, Rows({"tokens": spelled, **({} if listed is None else {"logprobs": listed})}))
    return found._replace(answer=changed(found.answer, logprob=logprob(values))) if total else found


def _verdict(value: Any) -> float | None:
    """Return a verdict between 0 and 1; anything else is an error."""
    if value is None:
        return None
    given = _VERDICTS.get(value.strip().lower(), value) if isinstance(value, str) else value
    try:
        found = float(given)
    except (TypeError, ValueError):
        found = -1.0
    if not 0 <= found <= 1:
        raise TableError(f"quality must be between 0 (wrong) and 1 (right); got {one_line(repr(value), most=40)}.")
    return found
