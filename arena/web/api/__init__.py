"""The public JSON API under ``/api/v1``: all that pages show, and what an account may ask for with its token.

``answers.py`` what is answered, ``operations.py`` how, ``analysis.py`` what lies behind a table, ``commands.py`` what a token is
needed for, ``serving.py`` parameters, errors, rates, ETags, ``openapi.py`` the document, made of the same tables that serve.
"""
