"""Add a measure of your own by a package: for scores that several projects should compute by name.

A package names a `Measure` under the entry points `vecuq.measures`; `vecuq measure`, `vecuq measures` and
`VecUQPipeline` then know it. Here the package is written to a folder, as `pip install` would leave it.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

CODE = '''
from vecuq.measures import Measure

def second_guess(logits):
    """Return how close the second class comes to the first, in the mean of the members."""
    ranked = logits.mean(axis=0).copy()
    ranked.sort(axis=1)
    return ranked[:, -2] - ranked[:, -1]

SECOND_GUESS = Measure("second_guess", "Second logit minus the first", "logits", second_guess)
'''

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "my_measures.py").write_text(CODE)
    about = Path(folder, "my_measures-1.0.dist-info")
    about.mkdir()
    about.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: my-measures\nVersion: 1.0\n")
    about.joinpath("entry_points.txt").write_text("[vecuq.measures]\nsecond_guess = my_measures:SECOND_GUESS\n")
    sys.path.insert(0, folder)

    from vecuq import VecUQPipeline
    from vecuq.measures import list_measures

    known = list_measures()["classifier"]
    print("second_guess is known:", "second_guess" in known)
    rng = np.random.default_rng(0)
    calibration, new = rng.normal(size=(3, 400, 4)), rng.normal(size=(3, 5, 4))
    pipeline = VecUQPipeline(measures=["second_guess", "entropy"]).fit(calibration)
    uncertainty = pipeline.uncertainty(new)
    sys.path.remove(folder)
print("uncertainty:", uncertainty.round(3))
