from . import dask as dask
from . import spark as spark
