"""The block of docs/scale-spark.md runs as it stands."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from page_blocks import blocks_of

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


def test_the_block_of_the_page_fits_and_scores(frame, calibration, new, tmp_path, monkeypatch):
    (block,) = blocks_of((ROOT / "docs" / "scale-spark.md").read_text("utf-8"))
    monkeypatch.chdir(tmp_path)
    names = {
        "calibration": frame(calibration.rename_columns(["request_id", *calibration.column_names[1:]]), 3),
        "new": frame(new, 2),
    }
    code = block.code.replace('"ranked"', f'"{tmp_path / "ranked"}"')  # Java does not follow our change of folder
    exec(compile(code, "docs/scale-spark.md", "exec"), names)  # noqa: S102 - our own text
    scored = pq.read_table(tmp_path / "ranked")
    assert scored.num_rows == new.num_rows
    assert {"uncertainty", "p_value", "flagged"} <= set(scored.column_names)
    assert scored["uncertainty"].null_count == 4
