"""The long run: attacks in processes of their own, and what came of them."""
