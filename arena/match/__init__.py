"""The sans-I/O match: it holds positions, clocks and policy, and never waits, reads a clock or draws a random number."""
