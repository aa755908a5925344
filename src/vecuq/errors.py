"""What can go wrong, by name. Every error is one clear line: what was needed, what came, what to do."""


class VecuqError(ValueError):
    """Anything that vecuq refuses to do; a ``ValueError``, so that existing handlers catch it."""


class TableError(VecuqError):
    """A score table that cannot be read or used."""


class ColumnError(TableError):
    """A column that is absent, doubled, not numeric, or pointing the other way."""


class CalibrationError(VecuqError):
    """Calibration rows from which no order can be learned."""


class SettingError(VecuqError):
    """A setting outside its range, or two settings that exclude each other."""


class ConvergenceError(VecuqError):
    """A transport plan that did not reach its marginals."""


class ModelFileError(VecuqError):
    """A file that is cut, altered, not of vecuq or from a newer vecuq."""


class VecuqWarning(UserWarning):
    """The parent of every warning that vecuq gives."""


class ConvergenceWarning(VecuqWarning):
    """The plan was kept although it missed its tolerance, because ``on_failure="warn"``."""


class MissingValueWarning(VecuqWarning):
    """Rows that got no score because a value is missing or infinite."""


class CalibrationWarning(VecuqWarning):
    """Calibration rows or settings that work, but deserve a second look."""


class ColumnWarning(CalibrationWarning):
    """Columns that were left out, or that were taken for scores and look like something else."""
