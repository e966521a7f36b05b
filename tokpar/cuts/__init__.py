"""Which local contexts are safe places to cut."""
