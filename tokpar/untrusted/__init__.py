"""Texts with parts that nobody trusts: such a part cannot spell a control token."""
