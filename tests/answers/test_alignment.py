"""Log-probabilities belong to an answer only if their tokens spell it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers.alignment import HIDDEN, NOT_OF_THE_TEXT, aligned, own_tokens

EURO = "\u20ac"


@pytest.mark.parametrize(
    ("text", "tokens", "finish", "expected"),
    [
        ("Paris", ["Paris"], "stop", (0, 0)),
        ("Paris", ["Paris", "<|im_end|>"], "stop", (0, 1)),
        (" Paris", [" Paris", ""], "stop", (0, 1)),
        ("It is Paris", ["It", "is", "Paris", "</s>"], "stop", (0, 1)),
        ("It is", ["\u2581It", "\u2581is", "</s>"], "stop", (0, 1)),
        ("Paris", ["\u2581", "Paris"], "stop", (0, 0)),
        ("Paris\n", ["Paris", "\n"], "stop", (0, 0)),
        (" Paris\n", ["Paris", "\n"], "stop", (0, 0)),
        ("Paris", ["Paris", "\n"], "stop", (0, 1)),
        ("Paris", ["Paris", "\n", "Q", ":"], "stop", (0, 3)),
        ("5", ["5.", "</s>"], "stop", (0, 1)),
        ("Paris", ["Paris", "<|im_end|>"], None, (0, 1)),
        ("", ["</s>"], "stop", (0, 1)),
        ("Par", ["Par", "is"], "length", None),
        ("Rome", ["Par", "is"], "stop", None),
        ("Paris", ["Paris", *["more"] * 17], "stop", None),
        ("Paris", ["It", " is", " Paris", "."], "stop", None),
        ("", ["Hm", "yes"], "length", None),
    ],
)
def test_the_tokens_of_the_text_are_found(text, tokens, finish, expected):
    assert aligned(text, tokens, finish=finish) == expected


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("Paris", ["Let", " me", " think", ".", "Paris"], (4, 0)),
        ("Paris", ["Hm", "</think>", "\n\n", "Paris", "</s>"], (3, 1)),
        ("\n\nParis", ["Hm", "</think>", "\n\n", "Paris"], (2, 0)),
        ("Paris", ["Paris", "?", "</think>", "Paris"], (3, 0)),
        ("Paris", ["Hm", "</think>", "Paris", "\n", "Q"], (2, 2)),
        ("Paris", ["<|channel|>", "final", "<|message|>", "Paris", "<|return|>"], (3, 1)),
        ("", ["Hm", "</think>"], (2, 0)),
    ],
)
def test_tokens_of_the_reasoning_before_it_are_left_out(text, tokens, expected):
    assert aligned(text, tokens, finish="stop") == expected


@pytest.mark.parametrize(
    ("tokens", "raw"),
    [
        (["5 ", "<0xE2>", "<0x82>", "<0xAC>"], None),
        (["5", "\u0120\u00e2", "\u0124\u00ac"], None),
        (["5 \ufffd", "\ufffd"], None),
        (["5 ", "\\xe2\\x82", "\\xac"], [b"5 ", b"\xe2\x82", b"\xac"]),
    ],
    ids=["byte fallback", "GPT-2's alphabet", "replacement characters", "bytes of the server"],
)
def test_a_character_may_be_spread_over_several_tokens(tokens, raw):
    assert aligned(f"5 {EURO}", [*tokens, "</s>"], raw=raw and [*raw, b""]) == (0, 1)
    assert aligned(f"6 {EURO}", [*tokens, "</s>"], raw=raw and [*raw, b""]) is None


@given(
    st.lists(st.sampled_from(["a", " b", "\n", EURO, "\ufffd", "Par", "is", " "]), min_size=1, max_size=12),
    st.integers(0, 4),
)
def test_what_is_found_spells_the_text_blanks_aside(tokens, n_before):
    text = "".join(tokens[n_before:])
    found = aligned(text, tokens, finish="stop")
    if found is not None and "\ufffd" not in "".join(tokens):
        own = tokens[found.start : len(tokens) - found.n_end]
        assert "".join("".join(own).split()) == "".join(text.split())
    assert found is not None or not text.strip()


def test_every_list_is_cut_to_the_same_tokens_and_what_was_decided_is_noted():
    lists = {"tokens": ("Hm", "Paris"), "logprobs": (-3.0, -0.1), "entropies": (1.0, 0.5), "entropy_top_k": 5}
    own, notes = own_tokens("Paris", lists, "stop")
    assert own == {"tokens": ("Paris",), "logprobs": (-0.1,), "entropies": (0.5,), "entropy_top_k": 5, "n_end": 0}
    assert notes == (HIDDEN,)
    assert own_tokens("Rome", lists, "stop") == ({}, (NOT_OF_THE_TEXT,))
    assert own_tokens("", {**lists, "tokens": ("Hm", "</think>")}, "stop") == ({}, (HIDDEN,))


def test_tokens_of_the_reasoning_alone_are_not_those_of_a_text_that_ends_it():
    lists = {"tokens": ("It", " is", " Paris"), "logprobs": (-1.0, -1.0, -1.0)}
    assert own_tokens("Paris", lists, "stop", hidden="It is Paris") == ({}, (NOT_OF_THE_TEXT,))
    assert own_tokens("Paris", lists, "stop", hidden="It is")[0]["logprobs"] == (-1.0,)
    assert own_tokens("Paris", lists, "length", hidden="It is Paris, I think.") == ({}, (NOT_OF_THE_TEXT,))
    only = {"tokens": ("Paris",), "logprobs": (-1.0,)}  # of the answer alone, which the reasoning names too
    assert own_tokens("Paris", only, "stop", hidden="It is Paris, I think.")[0]["logprobs"] == (-1.0,)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("Paris", ["\ufffd"]), ("Paris is nice", ["P", "\ufffd", "e"]), (EURO, ["\ufffd"] * 4), (3 * EURO, ["\ufffd"])],
)
def test_unknown_bytes_stand_for_a_few_bytes_and_for_no_plain_letter(text, tokens):
    assert aligned(text, tokens, finish="stop") is None


def test_without_the_spelling_of_tokens_nothing_is_cut():
    assert own_tokens("Paris", {"tokens": None, "logprobs": (-1.0,)}, "stop")[0]["logprobs"] == (-1.0,)


def test_half_a_character_in_a_token_is_no_reason_to_fail():
    assert aligned("Paris", ["\ud800"]) is None
