"""Rules that find the certified cuts of a text."""
