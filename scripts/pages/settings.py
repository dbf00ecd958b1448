"""docs/settings.md, from the fields of `Settings`."""

from __future__ import annotations

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from mithril_proxy.settings import Settings
from scripts.pages.tables import code, table

HEAD = """\
# Settings

Made by `scripts/docs` from `mithril_proxy/settings.py`. Settings say how this process runs; what is allowed stands in the
policy file ([policy.md](policy.md)). They come from the environment, then from `.env` in the working folder; options of a
command ([commands.md](commands.md)) win over both. A setting that is wrong stops the start with exit code 2 and names the
variable. Values marked secret are never logged; give them through the environment or a file that only Mithril can read,
never as an option, which `ps` would show.
"""


def settings_page() -> str:
    """Markdown with every setting, its default and what it means."""
    rows = [
        (code(f"MITHRIL_{name.upper()}"), _default(field), f"{field.description}{_secret(field)}")
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join([HEAD, *table(("variable", "default", "meaning"), rows), ""])


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "(must be set)"
    return "(unset)" if field.default is None else code(str(field.default))


def _secret(field: FieldInfo) -> str:
    return " Secret." if "SecretStr" in str(field.annotation) else ""
