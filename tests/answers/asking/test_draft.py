import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecuq.answers.asking.choice import Chosen
from vecuq.answers.asking.draft import Draft

LETTERS = "ab \nß🦙."


def spell_bytes(tokens):
    return bytes(tokens).decode(errors="replace")


def spoken(text, *, stop=(), max_tokens=100, end=True):
    draft = Draft(spell_bytes, stop, max_tokens)
    for byte in text.encode():
        if draft.finish is None:
            draft.add(Chosen(byte, -1.0, 0.5, 0.3, 0.8), ends=False)
    if draft.finish is None and end:
        draft.add(Chosen(0, -2.0, 0.25, 0.6, 0.9), ends=True)
    return draft.answer()


@given(st.text(LETTERS, max_size=20))
def test_the_pieces_of_the_tokens_spell_the_text_and_one_token_ends_it(text):
    answer = spoken(text)
    assert "".join(answer.tokens) == text
    assert answer.text == text.strip()
    assert (answer.n_end, answer.finish) == (1, "stop")
    assert len(answer.tokens) == len(answer.logprobs) == len(answer.entropies) == len(text.encode()) + 1
    assert answer.margins == (*(0.3,) * len(text.encode()), 0.6)
    assert answer.certainties == (*(0.8,) * len(text.encode()), 0.9)


def kept_of(text, stop):
    """What is left of a text that is read letter by letter until a stop text is complete."""
    for length in range(len(text) + 1):
        found = [text[:length].find(one) for one in stop if one in text[:length]]
        if found:
            return text[: min(found)]
    return text


@given(st.text("ab \n", max_size=20), st.lists(st.sampled_from(["\n", "\n\n", "ba", "b a"]), min_size=1))
def test_an_answer_ends_before_the_first_stop_text(text, stop):
    answer = spoken(text, stop=tuple(stop))
    kept = kept_of(text, stop)
    assert "".join(answer.tokens) == kept
    assert answer.n_end == len(answer.tokens) - len(kept)


@pytest.mark.parametrize(("text", "n_end", "n_tokens"), [("Paris\n\nQ", 2, 7), ("\n\n", 2, 2), ("", 1, 1)])
def test_all_tokens_of_a_stop_text_count_as_its_end(text, n_end, n_tokens):
    answer = spoken(text, stop=("\n\n",))
    assert (answer.n_end, len(answer.tokens)) == (n_end, n_tokens)
    assert answer.text_logprobs == (-1.0,) * (n_tokens - n_end)


def test_an_answer_that_is_cut_off_has_no_end():
    answer = spoken("abcdef", max_tokens=3)
    assert (answer.text, answer.finish, answer.n_end, answer.total_logprob) == ("abc", "length", 0, -3.0)


def test_a_character_cut_in_two_is_left_out():
    answer = spoken("aß", max_tokens=2)
    assert answer.text == "a"
    assert answer.tokens == ("a", "")
