"""What a call returns: encodings, seams, spans, and how the ids of a text add up.

Imported by: any room.
Read first: `encoding.py`.
"""
