"""A browser, for fragments inside pages of others."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import in_browser

browser, tab = in_browser.browser, in_browser.tab
