"""What parts of tokpar promise each other: interfaces, and checks of foreign parts."""
