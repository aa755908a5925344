"""Outputs of a model in, one uncertainty per row out; one saved file."""

from vecuq.pipeline.classifier import VecUQPipeline, pipeline_of

__all__ = ["VecUQPipeline", "pipeline_of"]
