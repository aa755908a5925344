import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["vecuq"])
def test_pydantic_is_imported_with_answers_and_not_before(module):
    told = "print('pydantic' in sys.modules)"
    code = f"import sys, {module}; {told}; import vecuq.answers as a; a.AnswerRecord; {told}"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "True"]
