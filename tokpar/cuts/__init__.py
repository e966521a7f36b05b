"""The three rules that find the certified cuts of a text: PAIR, STAGE and EDGE.

Imported by: any room.
Read first: `finder.py`.
"""
