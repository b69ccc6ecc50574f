"""Tournaments: a whole event in one file.

``formats`` decides who plays whom (pure), ``spec`` reads tournament.toml, ``runner`` plays an event to its end through a
backend: programs of this machine (``local``) or the workers of a running arena (``remote``).
"""
