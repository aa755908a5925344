"""The room can be entered without Dask, and says what to install when Dask is needed."""

import subprocess
import sys

HIDDEN = """
import sys
sys.modules["distributed"] = sys.modules["dask"] = None
import vecuq
"""


def said_by(code):
    return subprocess.run([sys.executable, "-c", HIDDEN + code], capture_output=True, text=True, check=True).stdout


def test_the_room_is_there_without_dask():
    assert "score" in said_by("print(vecuq.cluster.dask.score.__name__)")


def test_the_error_names_the_extra(tmp_path):
    code = f"""
try:
    vecuq.cluster.dask.fit({str(tmp_path)!r})
except vecuq.VecuqError as error:
    print(error)
"""
    assert "pip install 'vecuq[dask]'" in said_by(code)
