"""Tests of tokpar by room, as `tokpar/` has them; `support` serves all of them."""
