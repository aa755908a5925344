from . import spark as spark
