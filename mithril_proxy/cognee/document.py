"""The route table as a page of the documentation: `python -m mithril_proxy.cognee.document > docs/routes.md`."""

from __future__ import annotations

import sys

from mithril_proxy.cognee.table import ROUTES, Codec, Operation, Route
from mithril_proxy.policy import Routes, load_policy

MEANING = {
    Operation.WRITE: "decoded, judged, rebuilt",
    Operation.RECALL: "narrowed to verified memory, answer filtered and scrubbed",
    Operation.READ: "passed on, answer scrubbed of credentials",
    Operation.DESTRUCTIVE: "passed on, audited",
    Operation.CONTROL: "passed on",
    Operation.WEBHOOK: "passed on untouched when open",
    Operation.DENY: "refused unless the policy opens it",
    Operation.PASS: "passed on",
}


def routes_page(rules: Routes) -> str:
    """Markdown with every route, what is done with it, and whether `rules` leave it open."""
    lines = [
        "# Cognee's routes and what Mithril does with them",
        "",
        "Made by `python -m mithril_proxy.cognee.document` from `mithril_proxy/cognee/table.py`. A call that is",
        "not listed is refused: 403 when it could change something, 404 otherwise.",
        "",
        "| operation | what is done |",
        "|---|---|",
        *(f"| {operation} | {meaning} |" for operation, meaning in MEANING.items()),
        "",
        "| method and path | operation | default | switch under `[routes]` | why |",
        "|---|---|---|---|---|",
        *(_line(route, rules) for route in ROUTES),
        "",
    ]
    return "\n".join(lines)


def _line(route: Route, rules: Routes) -> str:
    is_open = bool(getattr(rules, route.switch)) if route.switch else route.operation is not Operation.DENY
    switch = f"`{route.switch}`" if route.switch else ""
    codec = "" if route.codec in (Codec.NONE, Codec.SCRUB) else f" ({route.codec})"
    return (
        f"| `{route.method} {route.template}` | {route.operation}{codec} | {'open' if is_open else 'closed'} "
        f"| {switch} | {route.note} |"
    )


def main() -> None:
    """Write the page for the default policy to standard output."""
    sys.stdout.write(routes_page(load_policy().routes))


if __name__ == "__main__":  # pragma: no cover - the same call, by the interpreter
    main()
