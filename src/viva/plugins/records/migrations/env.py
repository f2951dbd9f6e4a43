"""Run the migrations for alembic, in the transaction in which the records are opened."""

from alembic import context

from viva.plugins.records.database_tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True)
context.run_migrations()
