"""Outputs of a model in, one uncertainty per row out; one saved file."""

from vecuq.pipeline.classifier import VecUQPipeline, load_pipeline

__all__ = [
    "VecUQPipeline",
    "load_pipeline",
]
