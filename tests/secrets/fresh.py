"""Rows made anew from a seed: credentials of eleven kinds in nine settings, packed ones, and text that must stay."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote

ALNUM = string.ascii_letters + string.digits
KINDS = (
    "private_key", "aws", "github", "slack", "google", "openai", "stripe", "jwt", "db_uri", "bearer", "assignment",
)  # fmt: skip


def _some(chance: random.Random, length: int, alphabet: str = ALNUM) -> str:
    return "".join(chance.choices(alphabet, k=length - 2)) + chance.choice("23456789") + chance.choice("GHJKMN")


def _password(chance: random.Random) -> str:
    return _some(chance, chance.randint(10, 18)) + chance.choice(["!", "#", "-x", "_7", ""])


def _b64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _jwt(chance: random.Random) -> str:
    header = {"alg": chance.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    claims = {"sub": _some(chance, 8), "iat": chance.randint(10**9, 2 * 10**9)}
    return f"{_b64url(json.dumps(header))}.{_b64url(json.dumps(claims))}.{_some(chance, 43)}"


def _pem(chance: random.Random) -> str:
    kind = chance.choice(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED "])
    body = "\n".join(_some(chance, 64, ALNUM + "+/") for _ in range(chance.randint(3, 9)))
    return f"-----BEGIN {kind}PRIV" + f"ATE KEY-----\n{body}\n-----END {kind}PRIV" + "ATE KEY-----"


def credential(kind: str, chance: random.Random) -> tuple[str, str]:
    """A text with a credential, and the part of it that must not be seen afterwards."""
    scheme = chance.choice(["postgres", "postgresql+asyncpg", "mysql", "mongodb+srv", "redis", "amqp", "https"])
    password = _password(chance)
    stripe = chance.choice(["sk_live", "sk_test", "rk_live"])
    bearer = chance.choice([_some(chance, 32), hashlib.sha256(password.encode()).hexdigest()])
    whole = {
        "private_key": _pem(chance),
        "aws": chance.choice(["AKIA", "ASIA"]) + "".join(chance.choices(string.ascii_uppercase + "234567", k=16)),
        "github": "gh" + chance.choice("pousr") + "_" + _some(chance, 36),
        "slack": f"xox{chance.choice('bpar')}-{chance.randint(10**11, 10**12)}-{chance.randint(10**11, 10**12)}-"
        + _some(chance, 24),
        "google": "AI" + "za" + _some(chance, 35, ALNUM + "_-"),
        "openai": "sk" + chance.choice(["-", "-proj-", "-svcacct-"]) + _some(chance, 48),
        "stripe": stripe + "_" + _some(chance, 24),
        "jwt": _jwt(chance),
    }
    if kind in whole:
        return whole[kind], whole[kind]
    if kind == "db_uri":
        return (
            f"{scheme}://{chance.choice(['app', 'root', 'svc_mem'])}:{password}@db-{chance.randint(1, 9)}.internal/m",
            password,
        )
    if kind == "bearer":
        return f"{chance.choice(['Bearer', 'bearer'])} {bearer}", bearer
    name = chance.choice(["password", "DB_PASSWORD", "apiKey", "client_secret", "auth_token", "SECRET_KEY", "api-key"])
    return chance.choice([f'{name}="{password}"', f"{name}={password}", f'{name}: "{password}"']), password


SETTINGS: dict[str, Callable[[str], str]] = {
    "prose": lambda it: f"For the record, ops shared {it} in the call, please rotate it.",
    "env": lambda it: f"LOG_LEVEL=debug\nVALUE_1={it}\nPORT=8080\n",
    "yaml": lambda it: "services:\n  web:\n    port: 80\n    note: |\n      " + it.replace("\n", "\n      ") + "\n",
    "json": lambda it: json.dumps({"id": 7, "note": it, "ok": True}),
    "url": lambda it: f"see https://wiki.example.org/page?ref={quote(it, safe='')}&v=2 for more",
    "log": lambda it: f"2026-03-04T05:06:07Z INFO worker[12] retry=3 sent {it} status=500",
    "shell": lambda it: f"$ export THING='{it}' && ./run --verbose\nok\n",
    "code": lambda it: f'def connect():\n    value = """{it}"""\n    return open_client(value, timeout=30)\n',
    "markdown": lambda it: f"## Setup\n\n1. Copy `{it}` into the form.\n2. Restart.\n",
}

PACKINGS: dict[str, Callable[[str], str]] = {
    "base64": lambda it: base64.b64encode(f"note: {it}".encode()).decode(),
    "base64url": lambda it: _b64url(f"note: {it} >>>"),
    "folded": lambda it: "\n".join(
        base64.b64encode(f"{'x y ' * 20}{it}".encode()).decode()[at : at + 64] for at in range(0, 999, 64)
    ).strip(),
    "percent": lambda it: "".join(f"%{byte:02X}" for byte in it.encode()),
    "json escape": lambda it: json.dumps({"a": json.dumps({"b": it})}),
    "unicode escape": lambda it: "".join(f"\\u{ord(letter):04x}" for letter in it),
    "zero width": lambda it: "\u200b".join(it),
    "full width": lambda it: "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in it),
    "cyrillic": lambda it: it.replace("A", "\u0410").replace("o", "\u043e").replace("e", "\u0435"),
    "hex": lambda it: f"note: {it}".encode().hex(),
}


def plain_rows(number: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """A name, a text and the part of it that must go."""
    chance = random.Random(seed)
    for at in range(number):
        kind, setting = KINDS[at % len(KINDS)], list(SETTINGS)[at // len(KINDS) % len(SETTINGS)]
        text, secret = credential(kind, chance)
        yield f"{kind} in {setting}", SETTINGS[setting](text), secret


def packed_rows(number: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """A name, a text, and the packed part of it that must go."""
    chance = random.Random(seed)
    for at in range(number):
        kind, packing = KINDS[at % len(KINDS)], list(PACKINGS)[at // len(KINDS) % len(PACKINGS)]
        text, secret = credential(kind, chance)
        packed = PACKINGS[packing](text)
        yield f"{kind} as {packing}", f"Remember this value:\n{packed}\nIt came by mail.", secret


def benign_rows(number: int, seed: int) -> Iterator[str]:
    """Texts that must come back as they are."""
    chance = random.Random(seed)
    for at in range(number):
        word = "".join(chance.choices(string.ascii_lowercase, k=7))
        raw = chance.randbytes(64)
        digest = hashlib.sha512(raw)
        b64 = base64.b64encode(digest.digest()).decode()
        uuid = f"{raw.hex()[:8]}-{raw.hex()[8:12]}-4{raw.hex()[13:16]}-a{raw.hex()[17:20]}-{raw.hex()[20:32]}"
        hexes, number_text = digest.hexdigest(), str(chance.randint(1000, 99999))
        yield (
            f"The memory {uuid} of dataset {uuid[::-1].upper()} was replaced.",
            f"Fixed in commit {hexes[:40]}, released as {hexes[:7]}.",
            f'"node_modules/{word}": {{"version": "1.2.3", "integrity": "sha512-{b64}"}}',
            f"The password policy asks for {number_text[:2]} characters; the password for {word} is kept in the vault.",
            f"password: <your-{word}-password>\napi_key: ${{{word.upper()}_KEY}}\ntoken = os.environ['{word.upper()}']",
            f"[server]\nhost = {word}.internal\nport = {number_text}\ntimeout_s = 30\npool_size = 8\n",
            "attached: " + base64.b64encode(f"A note about {word} and its {number_text} readers.".encode()).decode(),
            f'tokens_count: {number_text}, max_tokens={number_text}, token_limit: 8192, token_type: "Bearer"',
            f"postgres://{word}@db.internal:5432/memories and redis://cache:6379/{number_text[0]}",
            f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b64[:43].replace('=', 'A')} {word}@laptop",
            f"-----BEGIN CERTIFICATE-----\n{b64[:64]}\n{b64[20:84]}\n-----END CERTIFICATE-----",
            f"-----BEGIN PUBLIC KEY-----\n{b64[:64]}\n{b64[20:84]}\n-----END PUBLIC KEY-----",
            f"image: registry.example.org/{word}@sha256:{hexes[:64]}",
            f".{word} {{ color: #{hexes[:6]}; background: #{hexes[6:9]}; border: 1px solid #{hexes[9:17]} }}",
            f"diff --git a/{word}.py b/{word}.py\nindex {hexes[:7]}..{hexes[7:14]} 100644\n"
            f"-    old = {word}()\n+    new = {word}(1)\n",
            f"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{b64}",
            f"The secret of {word} is patience; her token of thanks was a key, and the bearer of news left.",
            f"curl -H 'Authorization: Bearer $TOKEN' https://{word}.example.org/v1?page_token=abc&limit={number_text}",
            f"func (s *{word.title()}Store) GetPassword(ctx context.Context) string {{ return s.password }}",
            f'traceparent: 00-{hexes[:32]}-{hexes[32:48]}-01 etag: W/"{hexes[:27]}"',
            f"{word}_password = getpass.getpass('Password: ')\nif not {word}_password: raise ValueError('no password')",
            f"GET /api/v1/datasets/{uuid}/data?limit={number_text} 200 {number_text}ms session={word}-{number_text}",
            f"go.sum: github.com/{word}/{word} v1.{number_text[:2]}.0 h1:{b64[:43]}=",
            f"Password reset e-mails for {word} go out at 09:{number_text[:2]}; API keys rotate every 90 days.",
            f"skills: task-{word}-{number_text}, risk-{word}, disk-{word}-{hexes[:8]}",
        )[at % 25]
