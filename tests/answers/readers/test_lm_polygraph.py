"""Statistics of lm-polygraph, written as JSON."""

STATS = {
    "input_texts": ["A?", "B?"],
    "target_texts": ["a", ["b", "c"]],
    "greedy_texts": ["a", "b"],
    "greedy_log_likelihoods": [[-0.5, -0.25], [-1.0]],
    "entropy": [[0.5, 0.1], [0.2]],
    "sample_texts": [["a", "x"], ["b", "b"]],
    "sample_log_likelihoods": [[[-0.5], [-2.0]], [[-1.0], [-1.0]]],
    "sample_log_probs": [[-0.5, -2.0], [-1.0, -1.0]],
}


def test_every_input_text_is_a_question(read):
    records, notes = read({"stats": STATS})
    assert [(one.question, one.references, one.greedy.text) for one in records] == [
        ("A?", ("a",), "a"),
        ("B?", ("b", "c"), "b"),
    ]
    assert records[0].greedy.logprobs == (-0.5, -0.25)
    assert records[0].greedy.entropies == (0.5, 0.1)
    assert [(one.text, one.logprobs, one.total_logprob) for one in records[0].samples] == [
        ("a", (-0.5,), -0.5),
        ("x", (-2.0,), -2.0),
    ]
    assert "its end counts as a token" in notes


def test_statistics_that_were_not_computed_are_missing(read):
    records, notes = read({name: STATS[name] for name in ("greedy_texts", "input_texts")})
    assert [(one.greedy.text, one.greedy.logprobs, one.samples) for one in records] == [
        ("a", None, ()),
        ("b", None, ()),
    ]
    assert "its end" not in notes


def test_samples_alone_are_read(read):
    records, _ = read({"sample_texts": STATS["sample_texts"]})
    assert [(one.id, one.greedy, [two.text for two in one.samples]) for one in records] == [
        ("1", None, ["a", "x"]),
        ("2", None, ["b", "b"]),
    ]
