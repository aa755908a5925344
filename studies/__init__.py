"""Work that is done once and whose results are committed, in paper-data."""
