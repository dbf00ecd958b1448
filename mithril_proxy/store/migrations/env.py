"""How Alembic reaches the database: on the connection that `mithril_proxy.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from mithril_proxy.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller's transaction holds all of the upgrade
)
context.run_migrations()
