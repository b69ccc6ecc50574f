"""Plays sets: the one chatty loop, between the referee and the seats. Many sets share one event loop."""
