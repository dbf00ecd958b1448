"""Brings a database to the schema of this version, whoever starts first.

The whole upgrade is one transaction under the database's write lock, so of two processes that start at once one
upgrades and the other finds it done. Alembic is imported only when there is something to do.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from mithril_proxy.errors import ConfigurationError
from mithril_proxy.store.engines import Transactions

REVISIONS = ("0001", "0002", "0003")  # every schema this version knows, oldest first
HEAD = REVISIONS[-1]
MIGRATIONS = Path(__file__).parent / "migrations"


async def migrate(transactions: Transactions, *, may_change: bool) -> None:
    """Upgrade the database, or only check it. Raises ConfigurationError when this version cannot use it."""
    try:
        await transactions.run(lambda connection: _migrate(connection, may_change))
    except (SQLAlchemyError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        reason = f"{type(cause).__name__}: {cause}"
        raise ConfigurationError(f"DATABASE_URL: the database cannot be opened ({reason})") from error


def _migrate(connection: Connection, may_change: bool) -> None:
    found = current_revision(connection)
    if found == HEAD:
        return
    if found is not None and found not in REVISIONS:
        raise ConfigurationError(
            f"the database has schema {found}, which is newer than this version of Mithril (schema {HEAD});"
            " install the version that wrote it, or a later one"
        )
    if not may_change:
        raise ConfigurationError(f"the database has schema {found or 'none'}, not {HEAD}; run `mithril db migrate`")
    upgrade(connection, HEAD)


def current_revision(connection: Connection) -> str | None:
    """The schema that a database has; None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection, revision: str) -> None:
    """Run Alembic's migrations in the transaction of `connection`."""
    from alembic import command  # takes 200 ms, which a start with nothing to migrate does not pay
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
