"""Executors, which encode texts: one by one, on threads, in processes, or by an engine's own batch
call.

Imported by: `pipeline`, `plugin`, `registry`.
Read first: `serial_executor.py`.
"""
