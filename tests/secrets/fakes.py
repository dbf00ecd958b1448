"""Fake credentials, put together at run time so that other scanners do not take this repository for a leak."""

import base64

GITHUB = "ghp" + "_" + "Zq8LmX2vRt5NwK7pYc3HdBf9GsJ4TaUe6VoQ"
GITHUB_APP = (
    "ghs"
    + "_"
    + "12345_"
    + "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9"
    + ".eyJpc3MiOiIxMjM0NSJ9."
    + "c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"
)
GITHUB_FINE = "github" + "_pat_" + "11ABCDEFG0q8LmX2vRt5Nw_K7pYc3HdBf9GsJ4TaUe6VoQ"
AWS = "AKIA" + "Q3EGRT7XKJ5NPVLW"
AWS_SECRET = "wJa1rXUtnFEMI/K7MDENGq+b" + "PxRfiCYzEQ2LKs9d"
SLACK = "xoxb" + "-781236542736-2364535789652-" + "GkwFDQoHqzXDVsC6GzqYUypD"
GOOGLE = "AIza" + "SyNHxIf32IQ1a1yjl3ZJIqKZqzLAK1XhDk-"
OPENAI = "sk" + "-proj-" + "Xi8tdMjHV6pmbBbwilTeT3BlbkFJ3UDnpdEwNNm6wVBpYM0o"
ANTHROPIC = "sk" + "-ant-api03-" + "Zx8QpL2vN5tRk7YwJ3mBc9DfGh4SsAq1We6TyUi0OpLkJhGfDs"
STRIPE = "sk" + "_live_" + "ReTllpYQYfIZu2Jnf2lAPFjD"
JWT = (
    "eyJ"
    + "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0."
    + "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
)
UNSIGNED_JWT = JWT.rpartition(".")[0] + "."
JWE = (
    "eyJ"
    + "hbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0"
    + "..48V1_ALb6US04U3b.5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX."
    + "XFBoMYUZodetZdvTiFvSkQ"
)
PASSWORD = "Tr0ub" + "4dor-x9!"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDAC4AWkdwKYSd8"
PEM_HEAD = "-----BEGIN " + "PRIVATE KEY-----"
PEM_TAIL = "-----END " + "PRIVATE KEY-----"
PEM = f"{PEM_HEAD}\n{BODY}\n{BODY[::-1]}\n{PEM_TAIL}"
DB_URI = "postgres" + "://app:" + "p@ss9word" + "@db.internal:5432/memories"

BY_KIND = {
    "private_key": PEM,
    "aws_access_key": AWS,
    "github_token": GITHUB,
    "slack_token": SLACK,
    "google_api_key": GOOGLE,
    "openai_key": OPENAI,
    "stripe_key": STRIPE,
    "jwt": JWT,
    "db_uri": DB_URI,
    "bearer": "Bea" + "rer cfcabd11c7ed9a41b1a3e063c32d5114",
    "assignment": "password = " + '"' + PASSWORD + '"',
}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def b64url(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def folded(text: str, width: int = 64) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))
