"""Text from ids that arrive one by one, as soon as no later id can change the text.

Imported by: `adapters`, `encoder`, `integrations`, `tokpar`.
Read first: `streams.py`.
"""
