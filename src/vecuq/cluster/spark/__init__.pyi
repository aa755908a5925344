from .failures import clear_errors as clear_errors
from .fitting import fit as fit
from .scoring import score as score
from .session import local_session as local_session
