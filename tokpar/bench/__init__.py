"""Measurements, run by hand; nothing here is imported by the library."""
