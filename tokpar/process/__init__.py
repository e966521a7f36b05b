"""What a process has once: threads, cache on disk, compiled modules, limits, interrupts."""
