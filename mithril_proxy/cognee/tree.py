"""Every string in a JSON value, with a place to put it back.

A locator names positions only (`entry.method_params[2].key`), never a client's own key: locators stand in findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mithril_proxy.types import Annotation


def strings(value: object, locator: str) -> Iterator[Annotation]:
    """Every string in `value`, keys of objects too, each with its own locator, in a fixed order."""
    if isinstance(value, str):
        yield Annotation(locator, value)
    elif isinstance(value, Mapping):
        for position, (key, child) in enumerate(value.items()):
            yield Annotation(f"{locator}[{position}].key", str(key))
            yield from strings(child, f"{locator}[{position}]")
    elif isinstance(value, (list, tuple)):
        for position, child in enumerate(value):
            yield from strings(child, f"{locator}[{position}]")


def with_strings(value: object, locator: str, texts: Mapping[str, str]) -> object:
    """`value` with every string taken from `texts` by its locator.

    Raises KeyError when one is missing: a string that came back from no judgement must not travel on.
    """
    if isinstance(value, str):
        return texts[locator]
    if isinstance(value, Mapping):
        rebuilt: dict[str, object] = {}
        for position, child in enumerate(value.values()):
            key = texts[f"{locator}[{position}].key"]
            while key in rebuilt:  # two keys that were redacted to the same text
                key += "_"
            rebuilt[key] = with_strings(child, f"{locator}[{position}]", texts)
        return rebuilt
    if isinstance(value, (list, tuple)):
        return [with_strings(child, f"{locator}[{position}]", texts) for position, child in enumerate(value)]
    return value


def texts_of(annotations: tuple[Annotation, ...]) -> dict[str, str]:
    """Annotations by locator."""
    return {annotation.locator: annotation.text for annotation in annotations}
