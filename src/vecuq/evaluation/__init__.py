"""Numbers that say what an uncertainty is worth; never drawings."""

from vecuq.evaluation.detection import roc_auc

__all__ = ["roc_auc"]
