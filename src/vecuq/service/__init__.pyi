from .app import create_app as create_app
from .context import Service as Service
from .making import make_service as make_service
from .settings import Limits as Limits
from .settings import ServeSettings as ServeSettings
from .settings import StoreSettings as StoreSettings
