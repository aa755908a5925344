"""Models that are scored by somebody else: onnxruntime, or the scorer in JavaScript under node."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
SCORER = files("vecuq.ranker.export") / "scorer.js"
SCRIPT = Path(__file__).with_name("score.mjs")


@pytest.fixture(scope="session")
def node(node_program):
    """Return what the scorer in JavaScript says of a model and rows."""

    def ask(model, rows, changes=None):
        listed = np.asarray(rows, dtype=float).tolist() if not isinstance(rows, list) else rows
        asked = json.dumps({"model": model, "rows": listed, "changes": changes})
        # JavaScript reads a number that is too large as infinity, and JSON has no other.
        asked = asked.replace("Infinity", "1e999").replace("NaN", "null")
        done = subprocess.run(
            [node_program, str(SCRIPT), str(SCORER)], input=asked, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def onnx_runner(tmp_path_factory):
    """Return uncertainty and p-values of an exported ranker, as onnxruntime computes them."""
    pytest.importorskip("onnx", reason="onnx is not installed, which writes the file")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed, which reads the file")

    def run(ranker, rows, **how):
        path = tmp_path_factory.mktemp("onnx") / "model.onnx"
        ranker.to_onnx(path, **how)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_outputs()]
        return dict(zip(names, session.run(None, {"scores": np.asarray(rows, dtype=float)}), strict=True))

    return run
