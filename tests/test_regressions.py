"""Bugs that were found once, each as the smallest input that showed it."""
