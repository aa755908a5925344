"""One file per claim; peers and we run side by side in one process."""
