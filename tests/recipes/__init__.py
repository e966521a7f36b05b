"""How files in the wheel of tokpar were made."""
