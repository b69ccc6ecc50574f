"""Runs migrations on the connection, and in the transaction, that Database.upgrade hands over."""

from alembic import context

from arena.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
