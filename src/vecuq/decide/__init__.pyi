from .found import Decided as Decided
from .how import Deciding as Deciding
from .made import Made as Made
from .made import Making as Making
from .made import made_in_words as made_in_words
from .together import Seen as Seen
