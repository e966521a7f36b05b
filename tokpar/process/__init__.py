"""What a process has once: threads, the cache on disk, compiled modules, limits, interrupts.

Imported by: any room.
Read first: `disk_cache.py`.
"""
