"""From a model and new rows to a report: one page, and if wanted the table of all rows that call for a look."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecuq._files import atomic_files, write_atomic
from vecuq.decide import Deciding
from vecuq.options import ScoreOptions
from vecuq.table import PathLike, ScoreTable, TableLike, TableSource, kind_of
from vecuq.workflows.places import refuse_place, refuse_stdout
from vecuq.workflows.report_inputs import NOTHING_MORE, About, ReportModel, ReportRows, facts_of_file, names_of
from vecuq.workflows.review_table import write_review

if TYPE_CHECKING:
    from vecuq.report import Origin, Subject


@dataclass(frozen=True)
class Reported:
    """A report on disk, and how many rows call for a look."""

    n_rows: int
    n_unscored: int
    n_such: int  # rows that are flagged or, with a gate, not accepted; rows without a score are not counted
    is_gate: bool
    n_written: int | None = None  # rows in the table, if one was written

    def to_dict(self) -> dict[str, Any]:
        """Return the counts by name; the rows of a table only where one was written."""
        return {name: value for name, value in vars(self).items() if value is not None}


def report(
    model: PathLike,
    new: TableLike,
    out: PathLike,
    *,
    alpha: float | None = None,
    missing: str = "nan",
    about: About = NOTHING_MORE,
    table: PathLike | None = None,
    formulas: bool = True,
    force: bool = False,
) -> Reported:
    """Write a self-contained HTML page about new rows: what was found among them, and what to do now.

    The score columns, the labels and the few columns that the page shows are held in memory, whatever else the table
    has. Of very many rows the page shows the worst 1,000, and what takes long looks at a random draw, which it says.

    Parameters
    ----------
    model
        A saved ranker or pipeline, or a gate on either; for a pipeline ``new`` is a file of a classifier's outputs.
    new
        A file, several, a folder of part files, a pattern, or ``-`` for standard input.
    out
        Where the page goes.
    alpha
        The false-alarm rate of the threshold, by default that of the model.
    missing
        See :meth:`vecuq.Ranker.rank`.
    about
        Labels, groups, categories and calibration rows, each of which adds its part to the page.
    table
        Where to write all rows that call for a look (flagged; with a gate, not accepted) with their reasons, most
        uncertain first; rows without a score come last. The page names it.
    formulas
        Without it, texts of a csv table that a spreadsheet would compute get an apostrophe in front.
    force
        Whether a file that the job reads, or one of another kind, may be replaced.
    """
    found = ReportModel.load(model)
    reads = [model, new, *([] if about.calibration is None else [about.calibration])]
    refuse_place(out, writes="page", reads=reads, force=force)
    if table is not None:
        refuse_stdout(table, "The table of rows")
        refuse_place(table, reads=reads, force=force)
    found.refuse(about)
    Deciding(found.ranker, ScoreOptions(alpha=alpha, missing=missing))  # refuses what the model cannot deliver
    rows = ReportRows(found.at(alpha), new if found.pipeline is not None else TableSource.of(new), about, missing)
    origin = origin_of(about, model, names_of(new))
    options = (*origin.options, *(("--missing", missing) if missing != "nan" else ()))
    origin = replace(origin, facts=facts_of_file(model), of_outputs=found.pipeline is not None, options=options)
    origin = replace(origin, page=str(out))
    subject = subject_of(rows, origin, table=None if table is None else str(table))
    page = page_of(subject, title=title_of(names_of(new)))
    done = Reported(
        subject.n_rows, subject.n_rows - subject.n_scored, int(subject.chosen.sum()), found.gate is not None
    )
    if table is None:
        write_atomic(out, page)
        return done
    with atomic_files(out, table) as part:
        write_atomic(part[0], page)
        whole = part[1].with_name(f"rows{kind_of(table)}")  # the name that is yielded has the last ending only
        n_written = write_review(subject, rows.reader.batches(), whole, formulas=formulas)
        whole.replace(part[1])
    return replace(done, n_written=n_written)


def subject_of(rows: ReportRows, origin: Origin, *, table: str | None = None) -> Subject:
    """Rank the rows and put everything together that a report is about."""
    from vecuq.report import Subject

    ranker = rows.model.ranker
    scores = ScoreTable.of(rows.table, columns=ranker.columns, flip=ranker.flipped)
    ranking = ranker.rank(scores, missing=rows.missing, n_jobs=-1, warn=False)
    return Subject.of(ranker, rows.table, ranking, rows.beside(origin, table=table))


def page_of(subject: Subject, *, title: str) -> bytes:
    """Return the page about some rows."""
    from vecuq.report import build_report

    made = build_report(subject.ranker, subject.table, subject.ranking, title=title, beside=subject.beside)
    return made.encode()


def origin_of(about: About, model: PathLike, new: tuple[str, ...]) -> Origin:
    """Return where a report comes from, as the user named it; of the model's file nothing more is known yet."""
    from vecuq.report import Origin

    return Origin(
        model=str(model),
        new=new,
        calibration=None if about.calibration is None else ", ".join(names_of(about.calibration)),
        labels=about.label_options,
        options=about.other_options,
        command=about.command,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def title_of(new: tuple[str, ...]) -> str:
    """Return a title for a report about some files: the name of the first."""
    return Path(new[0]).name.partition(".")[0] or new[0]
