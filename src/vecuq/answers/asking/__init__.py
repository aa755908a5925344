"""Ask a language model: questions in, one greedy and several sampled answers out, with log-probs and entropies."""

from vecuq.answers.asking.endpoint import Endpoint
from vecuq.answers.asking.gguf import LocalModel
from vecuq.answers.asking.plan import Answerer, Plan
from vecuq.answers.asking.questions import Question, read_questions
from vecuq.answers.asking.refusal import RefusedQuestionError

__all__ = ["Answerer", "Endpoint", "LocalModel", "Plan", "Question", "RefusedQuestionError", "read_questions"]
