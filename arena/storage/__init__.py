"""The truth, in SQL: tables, migrations, and a module of functions for each concern.

Functions take a SQLAlchemy ``Connection`` inside a transaction of the caller's (:meth:`arena.storage.db.Database.read`
or ``write``) and are synchronous: an event loop calls them in a thread.
"""
