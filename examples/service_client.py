"""Call a scoring service from Python: for programs that should not load models themselves.

This script starts a service on a free port of this machine, as `vecuq serve gate.vecuq --store service.sqlite` does,
asks it for decisions, and tells it what people found out.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecuq import Gate, VecUQ
from vecuq.client import Client
from vecuq.data import load_demo


@contextmanager
def running(gate: Path, store: Path) -> Iterator[str]:
    """Yield the address of a service that ends with the block; it prints one line of JSON when it is ready."""
    words = [sys.executable, "-m", "vecuq", "serve", str(gate), "--store", str(store), "--audit", "1", "--port", "0"]
    with subprocess.Popen([*words, "--log-format", "json"], stderr=subprocess.PIPE, text=True) as service:  # noqa: S603
        try:
            yield next(said["address"] for said in map(json.loads, service.stderr) if said["message"] == "ready")
        finally:
            service.terminate()
            service.communicate()


calibration, new = load_demo()
labelled, later = new.slice(0, 500), new.slice(500)
gate = Gate(VecUQ().fit(calibration), accuracy=0.95).fit(labelled, 1 - labelled["is_error"].to_numpy())
row = {name: later[name][0].as_py() for name in calibration.column_names}

with tempfile.TemporaryDirectory() as folder:
    gate.save(Path(folder, "gate.vecuq"))
    with running(Path(folder, "gate.vecuq"), Path(folder, "service.sqlite")) as address, Client(address) as client:
        verdict = client.score([{"id": "q1", **row}], explain=True).rows[0]
        table = client.score(later.to_pandas(), alpha=0.05)  # a frame comes back as a frame
        drawn = table.loc[table["audit"], ["id", "is_error"]]
        client.feedback_all(
            [{"id": str(k), "kind": "audit", "correct": not bad} for k, bad in drawn.itertuples(index=False)]
        )
        live = client.live()

print("accept" if verdict.accept else "review", verdict.why)
print(f"{table['accept'].mean():.0%} of {len(table)} rows are accepted, {len(drawn)} of them were audited")
print(live.gate.words)
