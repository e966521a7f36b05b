"""Sessions: a text that is edited, and its ids, encoded again only near each change."""
