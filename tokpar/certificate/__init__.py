"""The independent checker of encodings (`checker`), and certificates as JSON (`stored`)."""
