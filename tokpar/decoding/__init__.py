"""Text from ids that arrive one by one, as soon as no later id can change it."""
