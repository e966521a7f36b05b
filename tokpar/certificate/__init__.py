"""The independent checker of encodings (`checker`), and certificates as files (`stored`)."""
