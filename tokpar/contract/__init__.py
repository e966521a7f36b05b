"""What the parts of tokpar promise each other: interfaces, what an adapter holds, and checks of the
parts of plugins.

Imported by: any room.
Read first: `interfaces.py`.
"""
