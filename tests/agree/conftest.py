"""Saved models of every kind, and the tables that every face gets."""

import sys
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from cases import JUDGES, MODELS, new_table

import on_spark

spark = on_spark.spark


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The path of a saved model by its name: saved("gate")."""
    folder = tmp_path_factory.mktemp("models")

    @cache
    def made(name):
        {**MODELS, **JUDGES}[name]().save(folder / f"{name}.vecuq")
        return folder / f"{name}.vecuq"

    return made


@pytest.fixture(scope="session")
def new(tmp_path_factory):
    """The path of the rows to decide."""
    path = tmp_path_factory.mktemp("rows") / "new.parquet"
    pq.write_table(new_table(), path)
    return path
