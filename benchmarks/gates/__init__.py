"""Does the gate keep its promise, and how much does it cover? Counted on real scores, beside its rivals."""
