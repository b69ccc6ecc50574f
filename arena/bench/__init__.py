"""Measurements of the arena: how fast the engines are, and what the whole carries."""
