"""What cannot be exported is refused with a line that says why and what to do."""

from dataclasses import replace

import pytest
from models_to_export import fitted

from vecuq.errors import SettingError

pytestmark = pytest.mark.filterwarnings("ignore::vecuq.VecuqWarning")


class ManyMaps:
    """A map of another kind."""

    def __call__(self, rows, n_jobs=None):
        return rows


def other_map():
    return replace(fitted(2)[0], rank_map=ManyMaps())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fitted(2, reference="ball")[0], "not a full grid"),
        (lambda: fitted(3, grid="authors", n_targets=200)[0], "not a full grid"),
        (lambda: fitted(2, holdback="cross")[0], "five maps"),
        (other_map, "in groups has several maps"),
    ],
)
def test_what_cannot_be_exported_is_refused_and_nothing_is_written(tmp_path, make, said):
    ranker = make()
    for export in (lambda: ranker.to_onnx(tmp_path / "model.onnx"), ranker.to_json):
        with pytest.raises(SettingError, match=said) as refused:
            export()
        assert str(refused.value).count("\n") == 0
        assert " Fit " in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_the_ball_of_one_column_is_a_grid_and_can_be_exported():
    assert '"kind":"vecuq-scorer"' in fitted(1, reference="ball")[0].to_json()
