from .settings import Limits as Limits
from .settings import ServeSettings as ServeSettings
from .settings import StoreSettings as StoreSettings
