"""The Celery application. Its one task plays a set."""
