"""Ladders: who plays whom next (pairing), what the ledger says (standings), settling sets, and the scheduler."""
