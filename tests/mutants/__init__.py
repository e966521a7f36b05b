"""Plants small faults in the rooms that decide ids, and lists which test notices each of them."""
