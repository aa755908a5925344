"""Answers dumped as arrays."""

import io
import zipfile

import numpy as np
import pytest

from vecuq.answers import arrays, holds_answers, read_answers
from vecuq.errors import TableError

TEXTS = np.array(["a b", "c"])
ENDED = {"texts": TEXTS, "ids": np.array([7, 9])}


@pytest.fixture
def save(tmp_path):
    def save_arrays(**named):
        np.savez(tmp_path / "a.npz", **named)
        return tmp_path / "a.npz"

    return save_arrays


def logprobs(path):
    return [record.greedy.logprobs for record in read_answers(path, strict=True)]


@pytest.mark.parametrize("padding", [-np.inf, np.nan, 0.0])
def test_a_padded_matrix_is_cut_at_its_padding(save, padding):
    path = save(**ENDED, token_logprobs=np.array([[-0.5, -0.25, -1.0], [-2.0, padding, padding]]))
    assert logprobs(path) == [(-0.5, -0.25, -1.0), (-2.0,)]


@pytest.mark.parametrize("ragged", [False, True])
def test_lengths_say_where_rows_end(save, ragged):
    rows = np.array([-0.5, -0.25, -2.0]) if ragged else np.array([[-0.5, -0.25], [-2.0, -9.0]])
    path = save(**ENDED, logprobs=rows, lengths=np.array([2, 1]))
    assert logprobs(path) == [(-0.5, -0.25), (-2.0,)]


def test_every_array_finds_its_place(save):
    path = save(
        **ENDED,
        questions=np.array(["x?", "y?"]),
        references=np.array([["a b", "ab"], ["d", "e"]]),
        cumulative_logprob=np.array([-0.75, -2.5]),
        token_ids=np.array([[5, 2], [6, 2]]),
        entropies=np.array([[0.5, 0.25], [1.0, 0.125]]),
        token_logprobs=np.array([[-0.5, -0.25], [-2.0, -0.5]]),
        eos_token_id=np.array(2),
        do_sample=np.array(False),
    )
    first, second = read_answers(path, strict=True)
    assert (first.id, first.question, first.references) == ("7", "x?", ("a b", "ab"))
    assert (second.id, second.greedy.text, second.greedy.total_logprob) == ("9", "c", -2.5)
    assert (first.greedy.entropies, first.greedy.n_end) == ((0.5, 0.25), 1)


def test_a_second_axis_of_texts_is_samples(save):
    path = save(
        texts=np.array([["a", "b"], ["c", "d"]]),
        cumulative_logprobs=np.array([[-1.0, -2.0], [-3.0, -4.0]]),
        token_logprobs=np.array([-1.0, -1.5, -0.5, -3.0, -4.0]),
        lengths=np.array([[1, 2], [1, 1]]),
    )
    first, second = read_answers(path, strict=True)
    assert [sample.logprobs for sample in first.samples] == [(-1.0,), (-1.5, -0.5)]
    assert [sample.total_logprob for sample in second.samples] == [-3.0, -4.0]


def test_arrays_are_joined_with_other_files(save, tmp_path):
    path = save(**ENDED)
    (tmp_path / "s.jsonl").write_text('{"id": "9", "texts": ["x", "y"]}\n')
    first, second = read_answers(path, samples=tmp_path / "s.jsonl")
    assert (first.samples, [sample.text for sample in second.samples]) == ((), ["x", "y"])


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"texts": np.array(["a", None], dtype=object)}, "arrays of objects are pickles"),
        ({"text": np.zeros(2)}, "must be \\(questions,\\)"),
        ({"logprobs": np.zeros((2, 2))}, "has no texts"),
        ({**ENDED, "logprobs": np.zeros((3, 2))}, "`logprobs` must be \\(2, 'tokens'\\)"),
        ({**ENDED, "logprobs": np.zeros(3)}, "`logprobs` must be"),
        ({**ENDED, "lengths": np.array([1, -2])}, "`lengths` must be whole numbers"),
        ({"texts": TEXTS, "ids": np.arange(3)}, "`id` must have one row per question, 2"),
    ],
)
def test_what_cannot_be_is_one_clear_line(save, named, told):
    path = save(**named)
    with pytest.raises(TableError, match=told) as caught:
        list(read_answers(path))
    assert str(path) in str(caught.value)


def test_a_row_that_cannot_be_is_counted_with_its_number(save):
    path = save(**ENDED, token_logprobs=np.array([[0.5, -1.0], [-1.0, -2.0]]))
    reader = read_answers(path)
    assert [record.id for record in reader] == ["9"]
    assert reader.problems == [f"{path}, row 1: a log-prob must be at most 0; got a positive number."]


def test_a_file_that_is_larger_unpacked_than_stated_is_refused_before_it_is_loaded(save, monkeypatch, tmp_path):
    monkeypatch.setattr(arrays, "ARRAYS_BYTES", 1_000_000)
    np.savez_compressed(tmp_path / "a.npz", texts=TEXTS, logprobs=np.zeros((2, 100_000)))
    assert (tmp_path / "a.npz").stat().st_size < 10_000
    with pytest.raises(TableError, match="at most 1,000,000 bytes of arrays are read"):
        list(read_answers(tmp_path / "a.npz"))


def test_texts_tell_answers_from_outputs_of_a_classifier(save, tmp_path):
    assert holds_answers(save(**ENDED))
    assert not holds_answers(save(logits=np.zeros((2, 3)), texts=TEXTS))
    assert not holds_answers(save(probs=np.zeros((2, 3))))
    assert not holds_answers(tmp_path / "absent.npz")
    (tmp_path / "a.npz").write_text("no zip")
    assert not holds_answers(tmp_path / "a.npz")
    with pytest.raises(TableError, match="cannot be read"):
        list(read_answers(tmp_path / "a.npz"))


def test_a_damaged_or_lying_file_is_one_clear_line(save, tmp_path):
    path, header = tmp_path / "a.npz", io.BytesIO()
    told = {"descr": "<U5", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(header, told)
    for content in (b"", b"no array", header.getvalue() + b"xxxx"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("texts.npy", content)
        with pytest.raises(TableError, match="cannot be read"):
            list(read_answers(path))
    path = save(**ENDED, logprobs=np.zeros((2, 0)))
    assert logprobs(path) == [(), ()]
