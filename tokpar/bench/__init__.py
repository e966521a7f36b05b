"""The laboratory, `tokpar bench`; nothing here is imported by the library."""
