"""The conformance kit for bots: drives any program through an arena that misbehaves on purpose, and says what it did.

`arena conformance -- COMMAND...` runs it. A scenario is a function over a :class:`~arena.conformance.stage.Stage`, which
starts the program as the arena would and plays the arena's side of each stream. Required is what a program of Hello,
Ready, Act and Pong does right; recommended is what the SDKs do beyond that.
"""
