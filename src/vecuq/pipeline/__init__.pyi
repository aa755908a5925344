from .answer_file import answers_of as answers_of
from .answers import AnswerPipeline as AnswerPipeline
from .classifier import VecUQPipeline as VecUQPipeline
from .classifier import pipeline_of as pipeline_of
from .making import Made as Made
from .making import Making as Making
from .making import making_of as making_of
from .verdict import Verdict as Verdict
