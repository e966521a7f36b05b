"""The kernel's C on machines that have no engine and no Python: the answers of this one there."""
