"""Bots connect here: sessions, the gRPC servers around them, and where each session is."""
