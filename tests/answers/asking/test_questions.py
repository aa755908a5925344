import pytest

from vecuq.answers.asking import Plan, Question, read_questions
from vecuq.errors import SettingError, TableError


def written(folder, text):
    path = folder / "questions.jsonl"
    path.write_text(text)
    return path


def test_a_question_needs_a_text_alone_and_keeps_what_else_its_line_holds(tmp_path):
    path = written(
        tmp_path, '{"question": "why"}\n\n{"id": 7, "question": "how", "answer": [1, "one"], "topic": "x"}\n'
    )
    assert list(read_questions(path)) == [
        Question("1", "why"),
        Question("7", "how", ("1", "one"), {"topic": "x"}),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"question": "why"', "not valid JSON"),
        ("[1]", "JSON object"),
        ('{"text": "why"}', "`question` must be a text; got None"),
        ('{"question": 3}', "`question` must be a text; got 3"),
        ('{"question": " "}', "`question` must be a text"),
        ('{"question": "why", "id": []}', "`id` must be"),
        ('{"question": "why", "answer": {}}', "`answer` must be"),
        ('{"question": "why", "answer": [' + "1," * 10_000 + "1]}", "`answer` has 10,001 entries"),
        ('{"question": "\\ud800"}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"question": "why", "id": "1"}', "'1' was used before, in line 1"),
    ],
)
def test_a_bad_line_is_an_error_with_file_and_line(tmp_path, line, told):
    path = written(tmp_path, f'{{"question": "first"}}\n{line}\n')
    with pytest.raises(TableError, match=told) as caught:
        list(read_questions(path))
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_a_file_without_questions_is_an_error(tmp_path):
    with pytest.raises(TableError, match="has no questions"):
        list(read_questions(written(tmp_path, "\n\n")))


def test_a_prompt_is_filled_with_any_field_of_the_line_and_other_braces_stay():
    plan = Plan(template="{context} {x} Q: {question}")
    assert plan.fill(Question("1", "why {context}", meta={"context": "sky"})) == "sky {x} Q: why {context}"


def test_the_draws_depend_on_seed_question_and_sample_alone():
    def first(seed, name, samples):
        return [random.random() for random in Plan(random_state=seed, samples=samples).draws(Question(name, "?"))]

    assert first(0, "a", 2) == first(0, "a", 3)[:2]
    assert len({*first(0, "a", 3), *first(0, "b", 3), *first(1, "a", 3)}) == 9


@pytest.mark.parametrize(
    "wrong",
    [
        {"samples": -1},
        {"max_tokens": 0},
        {"temperature": 0.0},
        {"template": "why"},
        {"stop": ("",)},
        {"random_state": -1},
    ],
)
def test_settings_that_can_never_be_right_are_refused(wrong):
    with pytest.raises(SettingError):
        Plan(**wrong)
