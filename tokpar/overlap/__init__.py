"""How overlapping chunks are joined."""
