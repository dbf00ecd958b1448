"""The only place that knows Cognee's paths and field names (read from Cognee 1.6.5). Pure: bytes in, values out.

Which call is it, and may it pass
    `routes.find_route(method, raw_path) -> Match`            raises Refused (unknown_route, 403) or NotCanonical (404)
    `routes.check_open(match, policy.routes) -> None`         raises Refused (route_closed) when the policy closes its switch
    `Match.operation` WRITE | RECALL | READ | DESTRUCTIVE | CONTROL | WEBHOOK | DENY | PASS; `Match.codec`;
    `Match.path` the constant path to forward, `Match.route.name` the short name for metrics and audit rows.

Writes (operation WRITE, codec names the decoder)
    `writes.decode_write(match, content_type, query, body, *, limits, rules, new_id) -> WriteCall`
        content_type: str | None, query: bytes | str, body: bytes; limits = policy.limits, rules = policy.routes,
        new_id: Callable[[], str] gives a claim id. Raises MalformedBody, BodyTooLarge, Refused.
    `WriteCall`: match, claims, annotations (for a call with no claims), dataset, session, client_tags, forged_tags, dropped
    `tags.Tags(forward)`: policy.forward plus the source names as `Tags(forward, reserved=(...))`;
        `.split_client(values) -> (kept, forged)`, `.for_forward(status, source, client_tags) -> tuple[str, ...]`
    `writes.prepare(call, claims, *, tags, dataset=None, annotations=None) -> PreparedWrite`    any subset of the claims
    `prepared.PreparedWrite.to_json() / from_json(mapping)`, `.with_tags(tags)` is not needed: tags are fields of it
    `prepared.render(prepared, boundary) -> Rendered(method, path, query, content_type, body)`

Recalls (operation RECALL)
    `recall.decode_recall(match, content_type, accept, body, *, limits) -> RecallAsk`            `.query` is the text to redact
    `recall.rebuild_recall(ask, rules, *, tags, session_id, query=None, may_read_session=...) -> RecallCall`
        rules = policy.recall; may_read_session: Callable[[str], bool], True for a session written only through Mithril
    `RecallCall`: method, path, body (bytes, canonical JSON), search_type, wants_stream
    `recall.filter_answer(answer, *, tags, redact, verified_only) -> Filtered(answer, removed)`  parsed JSON in and out

Probe
    `probe.probe_body(text, *, datasets, dataset_ids, top_k, tags) -> bytes`, `probe.PROBE_PATH`
    `probe.parse_probe(status, body, *, tags) -> tuple[Memory, ...]`      raises UpstreamUnavailable

Event streams
    `sse.SseParser.feed(bytes) -> tuple[Frame, ...]`, `sse.encode(frame) -> bytes`
    `sse.SseGuard(scrub_text=..., scrub_value=...)`: `.feed(bytes) -> bytes`, `.close() -> bytes`

Reads
    `reads.scrub_kind(match, content_type) -> ScrubKind` JSON | EVENTS | TEXT | REFUSE | STREAM
    `reads.scrub_json(match, value, redact) -> object`
"""
