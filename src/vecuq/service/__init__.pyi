from vecuq.service.settings import Limits as Limits
from vecuq.service.settings import ServeSettings as ServeSettings
from vecuq.service.settings import StoreSettings as StoreSettings
