"""Ask a language model: one greedy and several sampled answers to each question, with log-probs and entropies."""

from vecuq.answers.asking.endpoint import Endpoint
from vecuq.answers.asking.gguf import LocalModel
from vecuq.answers.asking.plan import Answerer, Plan, RefusedQuestionError
from vecuq.answers.asking.questions import Question, read_questions
from vecuq.answers.asking.sending import RejectedError, Sender

__all__ = [
    "Answerer",
    "Endpoint",
    "LocalModel",
    "Plan",
    "Question",
    "RefusedQuestionError",
    "RejectedError",
    "Sender",
    "read_questions",
]
