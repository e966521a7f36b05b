"""Read by planner and checker: the parser of patterns, and the rules for rows of Splits."""
