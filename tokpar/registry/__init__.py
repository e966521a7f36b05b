"""What is registered: hooks of pluggy, strategies, plugins, the parts of the core.

Imported by: `calls`, `cli`, `encoder`, `integrations`, `loading`, `plugin`, `tokpar`.
Read first: `hooks.py`.
"""
