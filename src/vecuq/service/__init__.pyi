from .recorder import Feedback as Feedback
from .recorder import FeedbackTaken as FeedbackTaken
from .refusal import ErrorBody as ErrorBody
from .settings import Limits as Limits
from .settings import ServeSettings as ServeSettings
from .settings import StoreSettings as StoreSettings
