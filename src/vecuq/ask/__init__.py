"""Ask a language model: questions in, one greedy and several sampled answers out, with log-probs and entropies."""

from vecuq.ask.endpoint import Endpoint
from vecuq.ask.gguf import LocalModel
from vecuq.ask.plan import Answerer, Plan
from vecuq.ask.questions import Question, read_questions
from vecuq.ask.refusal import RefusedQuestionError

__all__ = ["Answerer", "Endpoint", "LocalModel", "Plan", "Question", "RefusedQuestionError", "read_questions"]
