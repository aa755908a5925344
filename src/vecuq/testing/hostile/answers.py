"""Lines of answers as each provider writes them, nearly right."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from vecuq.answers import kinds
from vecuq.testing.hostile.byte_level import damaged
from vecuq.testing.hostile.json_level import altered, as_json

READER_KINDS = tuple(kind for kind in kinds() if kind != "auto")
_TOP = [{"token": "x", "logprob": -0.5}, {"token": "y", "logprob": -1.5}]
_CHAT = {"message": {"content": "x"}, "finish_reason": "stop"}
_ROWS = [{"token": "x", "logprob": -1.0, "bytes": [120], "top_logprobs": _TOP}]
# One or more good lines of each kind, without its id.
LINES: dict[str, list[dict[str, Any]]] = {
    "vecuq": [
        {
            "vecuq_answers": 1,
            "question": "q",
            "references": ["r"],
            "greedy": {
                "text": "x",
                "tokens": ["x", "."],
                "logprobs": [-1.0, -0.5],
                "entropies": [0.5, 0.1],
                "n_end": 1,
            },
            "samples": [{"text": "y", "logprob": -2.0, "finish": "stop"}, {"text": "x", "logprobs": [-1.0]}],
            "model": "m",
            "settings": {"temperature": 1.0},
            "meta": {"topic": "t"},
        },
        {
            "vecuq_answers": 1,
            "greedy": {
                "text": "x",
                "logprobs": [-1.0],
                "token_similarity": [0.5],
                "entropy_top_k": 5,
                "entropies": [1],
                "margins": [0.5],
                "certainties": [2.0],
            },
            "samples": [{"text": "x"}, {"text": "y"}],
            "similarity_of_samples": [[1.0, 0.5], [0.5, 1.0]],
            "nli_of_samples": [[[0, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 0, 1]]],
            "p_true": 0.5,
            "confidence": 0.9,
            "confidence_words": "likely",
        },
    ],
    "openai": [
        {
            "temperature": 0,
            "choices": [{**_CHAT, "logprobs": {"content": [{"token": "x", "logprob": -1, "top_logprobs": _TOP}]}}],
        },
        {
            "choices": [
                {"text": "x", "logprobs": {"tokens": ["x"], "token_logprobs": [-1], "top_logprobs": [{"x": -1}]}}
            ]
        },
        {
            "response": {"body": {"choices": [_CHAT], "model": "m"}},
            "request": {"body": {"messages": [{"content": "q"}]}},
        },
        {
            "request": {"prompt": ["q", "r"], "n": 1},
            "response": {"choices": [{"index": 0, "text": "x"}, {"index": 1, "text": "y"}]},
        },
        {"choices": [{"message": {"content": None, "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]}}]},
        {"choices": [{"message": {"refusal": "x", "reasoning": "y"}, "logprobs": {"refusal": _ROWS}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": "x"}]}, "logprobs": {"content": _ROWS}}]},
        {"method": "POST", "url": "/v1/chat/completions", "body": {"messages": [{"content": "q"}], "temperature": 0}},
        {"question": "q", "response": {"choices": [_CHAT]}, "samples": [{"choices": [_CHAT]}, "y"], "ok": True},
    ],
    "openai-responses": [
        {
            "response": {
                "object": "response",
                "status": "completed",
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "message", "content": [{"type": "output_text", "text": "x", "logprobs": _ROWS}]},
                ],
            },
            "request": {"input": "q", "temperature": 0},
        },
        {
            "response": {
                "body": {
                    "object": "response",
                    "status": "incomplete",
                    "incomplete_details": {"reason": "max_output_tokens"},
                    "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "x"}]}],
                }
            }
        },
        {"object": "response", "output": [{"type": "function_call", "name": "x", "arguments": "{}"}]},
    ],
    "vllm": [
        {
            "request_id": "1",
            "prompt": "q",
            "outputs": [
                {
                    "text": "x",
                    "token_ids": [5],
                    "logprobs": [{"5": {"logprob": -1, "decoded_token": "x"}}],
                    "cumulative_logprob": -1,
                    "finish_reason": "stop",
                    "stop_reason": None,
                }
            ],
            "sampling_params": {"temperature": 1.0},
        }
    ],
    "huggingface": [
        {
            "generated_texts": ["x", "y"],
            "transition_scores": [[-1], [-2]],
            "entropies": [[1], [2]],
            "tokens": [["x"], ["y"]],
            "entropy_top_k": 5,
            "generation_config": {"eos_token_id": 2, "pad_token_id": [0]},
        },
        {"generated_text": "x", "token_ids": [1, 5, 2], "logprobs": [-1, -2], "sequence_logprob": -3, "temperature": 1},
        {"question": "q", "prediction": "x", "logprobs": [{"token": "x", "logprob": -1, "top_logprobs": _TOP}]},
    ],
    "lm-eval": [
        {
            "doc": {"question": "q"},
            "target": "t",
            "arguments": [["q", {"temperature": 1}]],
            "resps": [["x"]],
            "filter": "none",
        },
        {
            "doc": {},
            "target": ["t"],
            "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {"until": []}}},
            "resps": [["x", "y"]],
        },
    ],
    "inspect": [
        {
            "epoch": 1,
            "input": "q",
            "target": "t",
            "output": {"choices": [{"message": {"content": "x"}, "stop_reason": "stop"}], "model": "m"},
            "scores": {"match": {"value": "C"}},
            "metadata": {"topic": "t"},
        },
        {
            "epoch": 1,
            "input": [{"role": "user", "content": "q"}],
            "target": ["t"],
            "output": {
                "choices": [
                    {
                        "message": {"content": [{"type": "text", "text": "x"}]},
                        "logprobs": {"content": [{"token": "x", "logprob": -1, "top_logprobs": _TOP}]},
                    }
                ]
            },
            "scores": {"a": {"value": 0.5}, "b": {"value": "I"}},
            "eval": {"config": {"epochs": 1}, "model": "m", "model_generate_config": {"temperature": 0}},
        },
    ],
    "promptfoo": [
        {
            "prompt": {"raw": "p", "label": "p"},
            "vars": {"question": "q"},
            "provider": {"id": "m"},
            "response": {"output": "x"},
            "success": False,
            "error": "not y",
            "gradingResult": {"pass": False, "score": 0, "reason": "not y"},
            "testCase": {"assert": [{"type": "equals", "value": "y"}]},
        },
        {"prompt": {"raw": "q"}, "vars": {}, "provider": "m", "response": {"output": "y"}, "success": True, "score": 1},
    ],
    "tgi": [
        {
            "question": "q",
            "generated_text": "x",
            "details": {
                "finish_reason": "eos_token",
                "seed": None,
                "tokens": [
                    {"id": 5, "text": "x", "logprob": -1, "special": False},
                    {"id": 2, "text": "</s>", "logprob": -0.5, "special": True},
                ],
                "top_tokens": [[{"text": "x", "logprob": -1}, {"text": "y", "logprob": -2}], [{"logprob": -0.5}]],
                "best_of_sequences": [{"generated_text": "y", "finish_reason": "length", "tokens": []}],
            },
        }
    ],
    "sglang": [
        {
            "text": "x",
            "meta_info": {
                "finish_reason": {"type": "stop", "matched": 2},
                "output_token_logprobs": [[-1, 5, "x"], [-0.5, 2, None]],
                "output_top_logprobs": [[[-1, 5, "x"], [-2, 6, "y"]], [[-0.5, 2, None]]],
            },
        },
        {"prompt": "q", "text": "x", "meta_info": {"finish_reason": None, "output_token_logprobs": [[-1, 5]]}},
    ],
    "llamacpp": [
        {
            "prompt": "q",
            "content": "x",
            "stop_type": "eos",
            "generation_settings": {"temperature": 0.0},
            "completion_probabilities": [{"token": "x", "bytes": [120], "logprob": -1, "top_logprobs": _TOP}],
        },
        {
            "content": "x",
            "stopped_eos": True,
            "completion_probabilities": [
                {"content": "x", "probs": [{"tok_str": "x", "prob": 0.5}, {"tok_str": "y", "prob": 0.25}]}
            ],
        },
    ],
    "ollama": [
        {
            "model": "m",
            "message": {"role": "assistant", "content": "x", "thinking": "h"},
            "done": True,
            "done_reason": "stop",
            "options": {"temperature": 1},
            "logprobs": [
                {"token": "h", "logprob": -2, "bytes": [104]},
                {"token": "</think>", "logprob": -1},
                {"token": "x", "logprob": -1, "top_logprobs": _TOP},
            ],
        },
        {"model": "m", "prompt": "q", "response": "x", "done": True},
    ],
    "anthropic": [
        {
            "type": "message",
            "content": [{"type": "thinking", "thinking": "h"}, {"type": "text", "text": "x"}],
            "stop_reason": "end_turn",
            "params": {"messages": [{"role": "user", "content": "q"}], "temperature": 0},
        },
        {
            "result": {
                "type": "succeeded",
                "message": {"type": "message", "content": [{"type": "text", "text": "x"}], "model": "m"},
            }
        },
    ],
    "gemini": [
        {
            "question": "q",
            "candidates": [
                {
                    "content": {"parts": [{"text": "h", "thought": True}, {"text": "x"}]},
                    "finishReason": "STOP",
                    "logprobsResult": {
                        "chosenCandidates": [{"token": "x", "logProbability": -1}],
                        "topCandidates": [{"candidates": [{"token": "x", "logProbability": -1}]}],
                    },
                }
            ],
        },
        {
            "request": {"contents": [{"parts": [{"text": "q"}]}], "generation_config": {"temperature": 1}},
            "response": {
                "candidates": [
                    {"content": {"parts": [{"text": one}]}, "avg_logprobs": -1, "token_count": 2} for one in ("x", "y")
                ],
            },
        },
    ],
    "uqlm": [
        {
            "data": {
                "prompts": ["q"],
                "responses": ["x"],
                "sampled_responses": [["x", "y"]],
                "multiple_logprobs": [[None, [{"token": "y", "logprob": -1}]]],
                "exact_match": [0.5],
            },
            "metadata": {"temperature": 1.0, "logprobs": [[{"token": "x", "logprob": -1, "top_logprobs": _TOP}]]},
        },
        {"prompt": "q", "response": "x", "sampled_responses": ["x", "y"], "noncontradiction": 0.5},
    ],
    "lm-polygraph": [
        {
            "stats": {
                "input_texts": ["q"],
                "target_texts": ["t"],
                "greedy_texts": ["x"],
                "greedy_log_likelihoods": [[-1, -0.5]],
                "entropy": [[0.5, 0.1]],
                "sample_texts": [["x", "y"]],
                "sample_log_likelihoods": [[[-1], [-2]]],
                "sample_log_probs": [[-1, -2]],
            }
        },
        {"sample_texts": [["x", "y"]]},
    ],
}
_IDS = {
    "openai": "custom_id",
    "openai-responses": "custom_id",
    "lm-eval": "doc_id",
    "anthropic": "custom_id",
    "gemini": "key",
}


def good_line(kind: str, name: str, place: int = 0) -> dict[str, Any]:
    """Return a line that the reader of ``kind`` takes, under an id and with a question of its own."""
    if kind not in LINES:
        raise LookupError(f"Add lines of answers of the kind {kind!r} to vecuq/testing/hostile/answers.py.")
    # Lines without an id belong to whoever has the same question.
    line = json.dumps(LINES[kind][place % len(LINES[kind])]).replace('"q"', json.dumps(f"q of {name}"))
    return {_IDS.get(kind, "id"): name, **json.loads(line)}


@st.composite
def answer_lines(draw: st.DrawFn, kind: str) -> bytes:
    """Return a strategy of one line of answers of a kind, altered in its values or damaged in its bytes.

    Parameters
    ----------
    kind
        One of ``vecuq.answers.kinds()`` but ``"auto"``.
    """
    line, _ = draw(altered(good_line(kind, "odd", draw(st.integers(0, len(LINES[kind]) - 1)))))
    text = as_json(line).encode()
    spoilt = draw(damaged(text)) if draw(st.integers(0, 4)) == 0 else text
    # It stays one line, and is never taken for another kind of file.
    return spoilt.replace(b"\n", b" ").replace(b"\r", b" ").lstrip(b"\x80PK\x1f\xff\xfe")
