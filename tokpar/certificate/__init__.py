"""The independent checker of encodings (`checker`), and certificate files (`certificate_file`)."""
