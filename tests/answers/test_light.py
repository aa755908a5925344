import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["vecuq", "vecuq.measures", "vecuq.workflows"])
def test_pydantic_is_imported_with_answers_and_not_before(module):
    has_pydantic = "print('pydantic' in sys.modules)"
    code = f"import sys, {module}; {has_pydantic}; import vecuq.answers as a; a.AnswerRecord; {has_pydantic}"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "True"]
