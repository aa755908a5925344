import pytest

from vecuq.answers import read_answers


@pytest.fixture
def read(write):
    """Read rows strictly, and return the records with the notes of the reader."""

    def read_rows(*rows, name="answers.jsonl", **options):
        reader = read_answers(write(*rows, name=name), strict=True, **options)
        return list(reader), " ".join(reader.notes)

    return read_rows


@pytest.fixture
def only(read):
    """Read one row, and return its only record."""

    def read_row(row, **options):
        (record,), _ = read(row, **options)
        return record

    return read_row
