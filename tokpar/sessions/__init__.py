"""Sessions: a text that is edited, with its ids. An edit encodes only the text near the change.

Imported by: `cli`, `encoder`, `integrations`, `tokpar`, `untrusted`.
Read first: `session.py`.
"""
