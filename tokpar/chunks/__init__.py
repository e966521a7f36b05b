"""Divides a text into slices of at most N tokens (`Encoder.chunks`)."""
