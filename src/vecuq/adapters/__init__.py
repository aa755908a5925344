"""A judge where people already are: OpenAI's client, LiteLLM, MLflow, OpenTelemetry.

Each adapter needs its package, which vecuq does not install, and takes any judge: a fitted
:class:`vecuq.AnswerPipeline`, or a function with the same arguments that returns a verdict.
"""

from lazy_loader import attach_stub

# The stub beside this file lists the public names; each package is imported on first use of its adapter.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
