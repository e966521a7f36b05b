"""How files that come with tokpar were made."""
