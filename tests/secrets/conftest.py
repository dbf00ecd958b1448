import pytest

from mithril_proxy.policy import policies_folder
from mithril_proxy.secrets import SecretGuard, load_guard


@pytest.fixture(scope="session")
def guard() -> SecretGuard:
    return load_guard([policies_folder() / "secrets.toml"])
