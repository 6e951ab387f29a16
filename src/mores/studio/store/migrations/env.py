"""The environment of Alembic: it runs the migrations on the connection that `database.migrate` opened."""

from alembic import context

from mores.studio.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
