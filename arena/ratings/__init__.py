"""Rating arithmetic. Pure: no I/O, no clock, no randomness."""
