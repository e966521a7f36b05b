"""The strategies of the core (cut, lopt, serial), and how overlapping chunks are joined.

Imported by: `plugin`, `registry`.
Read first: `cut.py`.
"""
