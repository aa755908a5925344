"""Score without vecuq: write a fitted model as ONNX, for programs in any language.

Needs `pip install 'vecuq[onnx]' onnxruntime`. Scores agree to 1e-12, p-values exactly. Of a gate, the model inside is
exported, not its decision.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime

from vecuq import VecUQ
from vecuq.data import load_demo

calibration, new = load_demo()
model = VecUQ().fit(calibration)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.onnx")
    model.to_onnx(path)
    size = path.stat().st_size
    session = onnxruntime.InferenceSession(path)

columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
rows = np.column_stack([new[name] for name in columns])
uncertainty, p_value = session.run(None, {"scores": rows})
difference = abs(uncertainty - model.uncertainty(new)).max()
same_p = bool((p_value == model.p_values(new)).all())
print(f"{size:,} bytes; columns {columns}")
print(f"largest difference of {len(rows)} scores: {difference:.1e}; the same p-values: {same_p}")
