from . import dask as dask
