"""The public JSON API: all that pages show, read only, under ``/api/v1``.

``answers.py`` what is answered, ``operations.py`` how, ``serving.py`` parameters, errors, rates, ETags, ``openapi.py`` the
document, made of the same tables that serve.
"""
