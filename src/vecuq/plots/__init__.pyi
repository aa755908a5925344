from .coverage import coverage_accuracy as coverage_accuracy
from .coverage import coverage_picture as coverage_picture
from .curves import draw_curves as draw_curves
from .curves import picture_of as picture_of
from .curves import rejection as rejection
from .curves import risk_coverage as risk_coverage
from .reliability_plot import reliability as reliability
