"""The compiled call, from a str to its ids, with its tables; and the cache of segments, for
tokenizers without a compiled call.

Imported by: `adapters`, `encoder`, `integrations`, `pipeline`.
Read first: `compiled_call.py`.
"""
