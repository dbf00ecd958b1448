import pytest

from mithril_proxy.secrets import SecretGuard
from tests.secrets.fresh import benign_rows, packed_rows, plain_rows

ROWS = 330


def shows(secret: str, text: str) -> bool:
    """True when eight characters in a row of `secret` are in `text`."""
    return any(secret[at : at + 8] in text for at in range(max(1, len(secret) - 7)))


@pytest.mark.parametrize("seed", [1, 2])
def test_plain_credentials_are_found_in_every_setting(guard: SecretGuard, seed: int) -> None:
    missed = [name for name, text, secret in plain_rows(ROWS, seed) if shows(secret, guard.redact(text).text)]
    assert missed == []


@pytest.mark.parametrize("seed", [3, 4])
def test_packed_credentials_are_found(guard: SecretGuard, seed: int) -> None:
    missed = [name for name, text, _ in packed_rows(ROWS, seed) if not guard.scan(text)]
    assert missed == []


@pytest.mark.parametrize("seed", [5, 6])
def test_what_is_no_credential_stays_byte_for_byte(guard: SecretGuard, seed: int) -> None:
    changed = [text for text in benign_rows(ROWS, seed) if guard.redact(text).text != text]
    assert changed == []
