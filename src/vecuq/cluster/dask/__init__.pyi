from .jobs import fit as fit
from .jobs import fit_files as fit_files
from .jobs import part_engine as part_engine
from .jobs import score as score
