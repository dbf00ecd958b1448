"""Alembic migrations of Mithril's database. `mithril_proxy.store.migrate` runs them; both engines share each one."""
