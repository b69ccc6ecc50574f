"""Playing in the browser: tables at which people and house bots sit. Nothing here is rated, and nothing is in SQL."""
