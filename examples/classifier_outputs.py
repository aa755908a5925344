"""From the logits of an ensemble to a decision: for classifiers of any framework that can save arrays.

`VecUQPipeline` computes the paper's four measures and ranks them. Training outputs with labels give distances;
calibration outputs must be of rows on which the classifier was not trained. They need no labels.
"""

import numpy as np

from vecuq import ClassifierOutputs, VecUQPipeline

N_CLASSES, N_MEMBERS = 5, 4
rng = np.random.default_rng(0)
centres = rng.normal(size=(N_CLASSES, 8)) * 3
heads = centres + rng.normal(size=(N_MEMBERS, N_CLASSES, 8)) * 0.3  # each member learned something else


def outputs(embeddings: np.ndarray) -> np.ndarray:
    """Return the logits of every member, (members, rows, classes)."""
    return -0.5 * ((embeddings[None, :, None] - heads[:, None]) ** 2).sum(axis=-1)


def known(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings of rows of the known classes, and their labels."""
    labels = rng.integers(N_CLASSES, size=n_rows)
    return centres[labels] + rng.normal(size=(n_rows, 8)), labels


(train, labels), (calibration, _), (same, _) = known(500), known(500), known(200)
strange = rng.normal(size=(200, 8)) * 6  # of no class that was ever seen

pipeline = VecUQPipeline().fit(
    ClassifierOutputs.of(logits=outputs(calibration), embeddings=calibration),
    train=ClassifierOutputs.of(logits=outputs(train), embeddings=train, labels=labels),
)
print("measures:", ", ".join(pipeline.measures_))
flagged = {
    name: pipeline.flag(ClassifierOutputs.of(logits=outputs(rows), embeddings=rows), alpha=0.05).mean()
    for name, rows in {"rows of known classes": same, "strange rows": strange}.items()
}
for name, share in flagged.items():
    print(f"{share:.0%} of the {name} are flagged")
