"""How far a job over part files has come: begun, resumed after a kill, published. Keeps what a resume needs on disk."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vecuq._version import __version__
from vecuq.errors import SettingError, TableError
from vecuq.workflows.part_files import Bad, Made, Part, PartJob
from vecuq.workflows.part_store import MANIFEST, STAGING, PartStore

_JOB = f"{STAGING}/job.json"


@dataclass
class Progress:
    """Which parts are finished, and which cannot be read."""

    job: PartJob
    store: PartStore
    run: str = field(default_factory=lambda: secrets.token_hex(8))  # no late worker of another job knows it
    replaces: list[str] = field(default_factory=list)  # files of an earlier job, which go when this one is finished
    made: dict[str, Made] = field(default_factory=dict)  # by name of the output
    bad: dict[str, str] = field(default_factory=dict)  # by source
    manifest: dict[str, Any] | None = None  # of a job that has nothing left to do

    @staticmethod
    def of(job: PartJob, store: PartStore, *, resume: bool, force: bool) -> Progress:
        """Begin a job, or go on with it; refuse a folder that holds something else."""
        begun, finished = _json(store, _JOB), _json(store, MANIFEST)
        if resume and begun is not None:
            return Progress._resumed(job, store, begun)
        if resume and finished is not None:
            return Progress._finished(job, store, finished)
        if not force:
            _refuse_filled(store, begun is not None, finished is not None)
        return Progress._begun(job, store, begun, finished)

    @staticmethod
    def _begun(
        job: PartJob, store: PartStore, begun: Mapping[str, Any] | None, finished: Mapping[str, Any] | None
    ) -> Progress:
        earlier = [] if begun is None else _published(store, begun)
        earlier += [part["output"] for part in (finished or {}).get("parts", ())]
        progress = Progress(job, store, replaces=sorted(set(earlier)), bad=dict(job.bad))
        progress._write_job()  # before anything is removed: a kill must not lose what is replaced
        if begun is not None:
            store.remove(_folder(begun["run"]))
        return progress

    @staticmethod
    def _resumed(job: PartJob, store: PartStore, begun: Mapping[str, Any]) -> Progress:
        progress = Progress(job, store, begun["run"], list(begun["replaces"]), bad=dict(job.bad))
        said = _journal(store, progress.run)
        forgiven = {source for source, line in said.items() if "reason" in line}
        _refuse_another(store, begun, _identity(job), forgiven)
        for made in _made(said):
            if made.size in (store.size(f"{progress.staging}/{made.name}"), store.size(made.name)):
                progress.made[made.name] = made
        store.remove(f"{STAGING}/drafts")
        progress._write_job()
        return progress

    @staticmethod
    def _finished(job: PartJob, store: PartStore, manifest: Mapping[str, Any]) -> Progress:
        """Return the progress of a job that has nothing left to do."""
        skipped = {bad["input"]: bad["reason"] for bad in manifest["skipped"]}
        inputs = [{name: part[name] for name in ("input", "output", "size", "stamp")} for part in manifest["parts"]]
        ours = _identity(job)
        ours["inputs"] = [facts for facts in ours["inputs"] if facts["input"] not in skipped]
        _refuse_another(store, {**manifest, "inputs": inputs}, ours, set())
        made = {
            part["output"]: Made(
                part["output"], part["counts"], part["output_size"], part["sha256"], tuple(part["notes"])
            )
            for part in manifest["parts"]
        }
        gone = [name for name, one in made.items() if store.size(name) != one.size]
        if gone:
            raise TableError(f"{store.shown} has a manifest, but {gone[0]} is gone or changed; use force=True.")
        return Progress(job, store, made=made, bad=skipped, manifest=dict(manifest))

    @property
    def staging(self) -> str:
        """Where finished parts lie until all are."""
        return _parts_of(self.run)

    def note(self, part: Part, outcome: Made | Bad) -> None:
        """Remember, also for a resume, what became of a part."""
        if isinstance(outcome, Bad):
            self.bad[part.source] = outcome.reason
            said = {"source": outcome.source, "reason": outcome.reason}
        else:
            self.made[part.name] = outcome
            said = {"source": part.source, **outcome.to_dict()}
        self.store.append(_journal_of(self.run), json.dumps(said))

    def in_order(self) -> list[Made]:
        """Return what was made, in the order of the inputs."""
        return [self.made[part.name] for part in self.job.parts if part.name in self.made]

    def skipped(self) -> list[Bad]:
        """Return what cannot be read, in the order of the inputs."""
        return [Bad(part.source, self.bad[part.source]) for part in self.job.parts if part.source in self.bad]

    def leave(self) -> None:
        """Stop: nothing stays but finished parts, and not even the folder if there are none."""
        self.store.remove(f"{STAGING}/drafts" if self.made else STAGING)

    def publish(self, manifest: dict[str, Any]) -> None:
        """Put every part in its place, then write the manifest; may be stopped anywhere and done again."""
        self.store.remove(MANIFEST)
        for name in set(self.replaces) - set(self.made):
            self.store.remove(name)
        for name in self.made:
            if self.store.size(f"{self.staging}/{name}") is not None:
                self.store.move(f"{self.staging}/{name}", name)
        self._refuse_incomplete()
        self.store.write(MANIFEST, f"{json.dumps(manifest, indent=1)}\n".encode())
        self.store.remove(STAGING)

    def _refuse_incomplete(self) -> None:
        for name, made in self.made.items():
            size = self.store.size(name)
            if size != made.size:
                found = "is gone" if size is None else f"has {size:,} bytes"
                raise TableError(
                    f"{self.store.shown}/{name} must have the {made.size:,} bytes that were made, but it {found}; "
                    f"does something else write to this folder? {how_to_go_on(self.store)}."
                )

    def _write_job(self) -> None:
        about = {**_identity(self.job), "run": self.run, "replaces": self.replaces}
        self.store.write(_JOB, json.dumps(about).encode())


def _folder(run: str) -> str:
    return f"{STAGING}/{run}"


def _parts_of(run: str) -> str:
    return f"{_folder(run)}/parts"


def _journal_of(run: str) -> str:
    return f"{_folder(run)}/done.jsonl"


def _journal(store: PartStore, run: str) -> dict[str, dict[str, Any]]:
    """Return what a run said last about each source; its last line may be cut."""
    return {line["source"]: line for line in _lines(store.read(_journal_of(run)) or b"")}


def _made(said: Mapping[str, Mapping[str, Any]]) -> list[Made]:
    return [Made.from_dict(line) for line in said.values() if "reason" not in line]


def _published(store: PartStore, begun: Mapping[str, Any]) -> list[str]:
    """Return the files in the folder that a stopped job was to replace, or had moved there itself."""
    run = begun["run"]
    moved = [
        made.name
        for made in _made(_journal(store, run))
        if store.size(f"{_parts_of(run)}/{made.name}") is None and store.size(made.name) == made.size
    ]
    return [*begun["replaces"], *moved]


def _lines(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _identity(job: PartJob) -> dict[str, Any]:
    """Return what must be the same for a job to go on; as JSON gives it back."""
    found = {
        "vecuq": __version__,
        "job": job.verb,
        "model": job.model,
        "options": job.options,
        "inputs": [part.facts for part in job.parts],
    }
    return dict(json.loads(json.dumps(found)))


def _json(store: PartStore, name: str) -> dict[str, Any] | None:
    content = store.read(name)
    try:
        return None if content is None else dict(json.loads(content))
    except ValueError:
        return None


def _refuse_filled(store: PartStore, begun: bool, finished: bool) -> None:
    if begun:
        raise SettingError(f"{store.shown} holds a job that was stopped. {how_to_go_on(store)}.")
    if finished:
        raise SettingError(
            f"{store.shown} holds the output of an earlier job; choose another folder, or replace it with force=True."
        )
    there = store.names()
    if there:
        raise SettingError(
            f"{store.shown} is not empty (it holds {there[0]}); choose another folder, or write into it with "
            f"force=True."
        )


def how_to_go_on(store: PartStore) -> str:
    """Return what to do about a job that was stopped."""
    again = "tart again with force=True"
    return f"Go on with resume=True, or s{again}" if store.resumable else f"S{again}"


def _refuse_another(store: PartStore, begun: Mapping[str, Any], now: Mapping[str, Any], forgiven: set[str]) -> None:
    """Raise if the job in a folder is another one; inputs that could not be read may have been corrected."""
    what = _first_difference(begun, now, forgiven)
    if what is not None:
        raise SettingError(
            f"{store.shown} holds a job with {what}, so it cannot go on with this one. Give it the same again, choose "
            f"another folder, or start again with force=True and without resume=True."
        )


def _first_difference(begun: Mapping[str, Any], now: Mapping[str, Any], forgiven: set[str]) -> str | None:
    if begun["vecuq"] != now["vecuq"]:
        return f"vecuq {begun['vecuq']}, and this is {now['vecuq']}"
    if begun["job"] != now["job"] or begun["model"] != now["model"]:
        return "another model" if begun["job"] == now["job"] else f"`vecuq {begun['job']}`"
    names = {*begun["options"], *now["options"]}
    other = sorted(name for name in names if begun["options"].get(name) != now["options"].get(name))
    if other:
        name = other[0]
        return f"other options ({name} was {begun['options'].get(name)}, now {now['options'].get(name)})"
    before, after = ({one["input"]: one for one in facts["inputs"]} for facts in (begun, now))
    changed = sorted(one for one in {*before, *after} - forgiven if before.get(one) != after.get(one))
    return f"other inputs ({changed[0]} has changed, or is there only once)" if changed else None
