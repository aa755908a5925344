"""Ask a language model: one greedy and several sampled answers to each question, with log-probs and entropies."""

from vecuq.answers.asking.confidence import Confidence, confidence_of, refuse_unaskable
from vecuq.answers.asking.endpoint import Endpoint
from vecuq.answers.asking.pace import Pace
from vecuq.answers.asking.plan import Answerer, Plan, RefusedQuestionError
from vecuq.answers.asking.questions import Question, read_questions
from vecuq.answers.asking.refusals import RejectedError
from vecuq.answers.asking.sending import Sender
from vecuq.answers.asking.usage import Prices, Usage

__all__ = [
    "Answerer",
    "Confidence",
    "Endpoint",
    "Pace",
    "Plan",
    "Prices",
    "Question",
    "RefusedQuestionError",
    "RejectedError",
    "Sender",
    "Usage",
    "confidence_of",
    "read_questions",
    "refuse_unaskable",
]
