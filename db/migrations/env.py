"""Alembic's entry: runs on the connection, and inside the transaction, that `Database.migrate` hands over."""

from alembic import context

from db.base import Base

connection = context.config.attributes["connection"]
# transactional_ddl: a migration that fails half-way leaves nothing behind, on SQLite too.
context.configure(connection=connection, target_metadata=Base.metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
