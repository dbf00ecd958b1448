"""The inputs that credential scanners are known to get wrong, with the right answer for each."""

import json
import urllib.parse

import pytest

from mithril_proxy.secrets import SecretGuard
from tests.secrets import fakes as f

GONE = [
    # (kind, text, what must not survive)
    ("github_token", f"token {f.GITHUB[:9]}\u200b{f.GITHUB[9:]} ok", f.GITHUB[9:]),
    ("github_token", "\u00ad".join(f.GITHUB), f.GITHUB[-6:]),
    ("github_token", f"a {f.GITHUB[:5]}\u202e{f.GITHUB[5:]}", f.GITHUB[5:]),
    ("aws_access_key", "\u0410" + f.AWS[1:], f.AWS[1:]),
    ("aws_access_key", "".join(chr(ord(letter) + 0xFEE0) for letter in f.AWS), "\uff33"),
    ("github_token", f"x=%{ord('g'):x}{f.GITHUB[1:]}", f.GITHUB[1:]),
    ("db_uri", "postgres%3A%2F%2Fu%3A" + "p4ssw0rd" + "%40host%2Fdb", "p4ssw0rd"),
    ("github_token", urllib.parse.quote(urllib.parse.quote(f"a={f.GITHUB}&b", safe=""), safe=""), f.GITHUB),
    ("github_token", f.b64(json.dumps({"token": f.GITHUB})), f.b64(f.GITHUB)[8:20]),
    ("github_token", f.b64url(json.dumps({"a": "é~~?", "token": f.GITHUB})), "Z2hw"),
    ("private_key", f.folded(f.b64(f.PEM)), f.b64(f.PEM)[64:120]),
    ("private_key", f.folded(f.b64(f.PEM), 76).replace("\n", "\r\n  "), f.b64(f.PEM)[80:120]),
    ("github_token", f.b64(f.b64(f"token {f.GITHUB}")), f.b64(f.b64(f"token {f.GITHUB}"))[10:40]),
    ("github_token", f"key {f.GITHUB}".encode().hex(), f.GITHUB.encode().hex()),
    ("private_key", json.dumps(f.PEM), f.BODY),
    ("private_key", json.dumps(json.dumps(f.PEM)), f.BODY),
    ("private_key", json.dumps({"key": f.PEM.splitlines()}), f.BODY),
    ("private_key", "\n".join("    " + line for line in f.PEM.splitlines()), f.BODY),
    ("private_key", "\n".join("> " + line for line in f.PEM.splitlines()), f.BODY),
    ("private_key", f.PEM.removesuffix(f.PEM_TAIL), f.BODY),
    ("private_key", f.PEM.replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n", 1), f.BODY),
    ("private_key", f.PEM.replace("\n", " "), f.BODY),
    ("private_key", f.PEM.replace("PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), f.BODY),
    ("assignment", "db:\n  password:\n    x9Kq2LpV7m\n", "x9Kq2LpV7m"),
    ("assignment", "password: |\n  x9Kq2LpV7m\n", "x9Kq2LpV7m"),
    ("assignment", '{"name": "DB_PASSWORD", "value": "x9Kq2LpV7m"}', "x9Kq2LpV7m"),
    ("assignment", "- name: DB_PASSWORD\n  value: x9Kq2LpV7m\n", "x9Kq2LpV7m"),
    ("db_uri", "postgres://u:p@ss@host/db", "p@ss"),
    ("db_uri", "postgres://u:p4/ss@host/db", "p4/ss"),
    ("db_uri", "redis://:pw12@h", "pw12"),
    ("github_token", f"https://{f.GITHUB}@github.com/a/b", f.GITHUB),
    ("github_token", f"https://x:{f.GITHUB}@github.com/a/b", f.GITHUB),
    ("github_token", f.GITHUB_APP, "c2lnbmF0dXJl"),
    ("github_token", f.GITHUB_FINE, f.GITHUB_FINE[12:]),
    ("jwt", f.UNSIGNED_JWT, "eyJzdWIi"),
    ("jwt", f"see {f.JWT}, or not", "eyJzdWIi"),
    ("jwt", f.JWE, "48V1_ALb6US04U3b"),
    ("bearer", "Bea" + "rer dGhpc2lzYXRva2VuMTIz==", "=="),
    ("assignment", "api_key: " + "6fe4476ee5a1832882e326b506d14126", "6fe4476e"),
    ("assignment", "sasl_password=" + "LIkaITK744sG54VgABW/+p4NXFr", "LIka"),
    ("assignment", 'password = "two words and ${VAR}9"', "two words"),
    ("assignment", f"DB_PASSWORD={f.PASSWORD}", f.PASSWORD),
    ("assignment", f"export PGPASSWORD='{f.PASSWORD}'", f.PASSWORD),
    ("assignment", json.dumps({"db": {"password": 'a"b\\c9-long'}}), "c9-long"),
    ("assignment", json.dumps(json.dumps({"password": f.PASSWORD})), f.PASSWORD),
    ("assignment", f"Server=db;User Id=sa;Password={f.PASSWORD};Encrypt=true", f.PASSWORD),
    ("assignment", f"https://h/cb?access_token={f.GITHUB[4:20]}&state=1", f.GITHUB[4:20]),
    ("assignment", f"<password>{f.PASSWORD}</password>", f.PASSWORD),
    ("assignment", f"mysql --password {f.PASSWORD} -h db", f.PASSWORD),
    ("assignment", f"the root password is {f.PASSWORD}.", f.PASSWORD),
    ("bearer", "Authorization: Bas" + "ic " + f.b64(f"admin:{f.PASSWORD}"), f.b64(f"admin:{f.PASSWORD}")[:12]),
    ("bearer", "X-Api-Key: " + "3a16750dd36341a48ebd035408f7730f", "3a16750d"),
    ("google_api_key", f"see {f.GOOGLE}", f.GOOGLE),
    ("anthropic_key", f.ANTHROPIC, f.ANTHROPIC[14:]),
    ("aws_secret_key", f"{f.AWS}\n{f.AWS_SECRET}", f.AWS_SECRET),
]

STAYS = [
    "123e4567-e89b-12d3-a456-426614174000",
    "commit 9a038989604e8da62ecddbe2094b16ce1b778be1 fixes the token parser",
    "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae is not a secret",
    '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    "assignVariablesOjTabBar1482653721SelectedItem",
    '"tokenizationId": "6fe4476ee5a1832882e326b506d14126"',
    "secret: 123e4567-e89b-12d3-a456-426614174000",
    "postgres://u:${PW}@h/db",
    "postgres://u:{pw}@h/db",
    "postgres://u:<pw>@h/db",
    "postgres://user:password@localhost/db",
    "https://h:8443/a@b",
    "ssh://git@h:22/repo.git",
    "versions 1.2.3 and eyJabc.def.ghi",
    "sk-learn-contrib-imbalanced-ensemble-methods",
    "task-management-framework-integration-2",
    "risk-assessment-and-mitigation-planning-2026",
    "disk-encryption-key-management-overview",
    "Bearer of bad news, he came at dawn",
    "bearer authentication-mechanism-negotiation",
    "password: <your-password>",
    "password = ${DB_PASSWORD}",
    "password: $DB_PASSWORD",
    "password=%DB_PASSWORD%",
    "password: {{ vault.db_password }}",
    'password = os.environ["DB_PASSWORD"]',
    "const token = process.env.API_TOKEN;",
    'secret = getenv("APP_SECRET")',
    "password: ********",
    "api_key = xxxxxxxxxxxxxxxx",
    "token=[REDACTED:assignment]",
    "password: changeme",
    "password: null",
    "AKIAIOSFODNN7EXAMPLE",
    "pk_live_" + "j5krY8XTgIcDaHDb3YrsAfCl",
    "token_count: 128000",
    "max_tokens=4096",
    "next_page_token: null",
    'token_type: "Bearer"',
    "password: see the wiki",
    "API key rotation policy: rotate every 90 days",
    "The password policy requires 12 characters, one digit and one symbol.",
    "the password is case-sensitive",
    "the access token is valid for 3600 seconds",
    f"a PEM file starts with {f.PEM_HEAD} on its own line",
    f"Between {f.PEM_HEAD} and {f.PEM_TAIL} stands the key.",
    f"-----BEGIN PUBLIC KEY-----\n{f.BODY}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{f.BODY}\n-----END CERTIFICATE-----",
    "def check(password: str, token: Optional[str] = None) -> bool:",
    "self.password = password",
    "user.password = hash_password(form.password.data)",
    "token = tokenizer.next_token()",
    "SELECT password_hash FROM users WHERE id = 7",
    "password_hint: mother's maiden name",
    "password_min_length = 12",
    "secret_name: prod-db-credentials-1",
    "https://login.example.org/oauth2/token?grant_type=authorization_code",
    f.b64("The quick brown fox jumps over the lazy dog, twice a day."),
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "https://example.org/search?q=password%20reset%20flow&page=2",
    "\u0394v of \u03a3 is 5\u03bcm \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u041f\u0430\u0440\u043e\u043b\u044c \u043d\u0435 \u043d\u0443\u0436\u0435\u043d",
    '{"id": 7, "author": "ann", "authorType": "user", "tokens": 128, "auth": true}',
    "C:\\new\\token\\readme.txt",
    'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "csrf_token policy: same-site lax",
    "key: value, key2: value2",
]


@pytest.mark.parametrize(("kind", "text", "secret"), GONE, ids=range(len(GONE)))
def test_the_credential_is_gone_and_named_by_its_kind(guard: SecretGuard, kind: str, text: str, secret: str) -> None:
    redacted = guard.redact(text)
    assert secret not in redacted.text
    assert kind in {hit.kind for hit in redacted.hits}


@pytest.mark.parametrize("text", STAYS, ids=range(len(STAYS)))
def test_what_is_no_credential_stays_byte_for_byte(guard: SecretGuard, text: str) -> None:
    assert guard.redact(text).text == text


@pytest.mark.parametrize("text", [text for _, text, _ in GONE], ids=range(len(GONE)))
def test_redacting_twice_changes_nothing(guard: SecretGuard, text: str) -> None:
    once = guard.redact(text).text
    assert guard.redact(once).text == once


@pytest.mark.parametrize("text", [text for _, text, _ in GONE if text[:1] in '{"'], ids=str.__len__)
def test_json_stays_json(guard: SecretGuard, text: str) -> None:
    json.loads(guard.redact(text).text)


@pytest.mark.parametrize("kind", f.BY_KIND)
def test_each_kind_is_found_in_a_sentence(guard: SecretGuard, kind: str) -> None:
    text = f"Note for the team: {f.BY_KIND[kind]}\nplease keep it."
    redacted = guard.redact(text)
    assert [hit.kind for hit in redacted.hits] == [kind]
    assert f"[REDACTED:{kind}]" in redacted.text
    assert redacted.text.endswith("\nplease keep it.")
