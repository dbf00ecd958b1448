"""Writes every page."""

from __future__ import annotations

from pathlib import Path

from scripts.pages import PAGES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    """Write the pages, and say which ones changed."""
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
