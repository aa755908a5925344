"""What vecuq promises, as functions that raise where it does not hold."""
