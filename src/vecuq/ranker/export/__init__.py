"""A fitted ranker for other programs: as an ONNX graph, or as JSON for a scorer in plain JavaScript."""

from vecuq.ranker.export.document import json_of, scorer_source
from vecuq.ranker.export.exportable import exportable
from vecuq.ranker.export.onnx_model import onnx_bytes

__all__ = ["exportable", "json_of", "onnx_bytes", "scorer_source"]
