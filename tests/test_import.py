import subprocess
import sys


def loaded_by(code):
    script = f"{code}\nimport sys\nprint(' '.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_vecuq_stays_light():
    heavy = {"matplotlib", "pandas", "polars", "sklearn", "torch", "jax", "pyarrow", "scipy", "jinja2", "rich", "typer"}
    assert loaded_by("import vecuq") & heavy == set()


def test_the_estimator_needs_scikit_learn_but_no_plots_and_no_frames():
    loaded = loaded_by("from vecuq import VecUQ")
    assert "sklearn" in loaded
    assert loaded & {"matplotlib", "torch", "jax", "jinja2"} == set()
