"""Write CHANGELOG.md from the folders under changelog/, one section a release.

`python changelog/collect.py` writes it, `--check` exits 1 if it is stale, `--unreleased` prints what the next
release will say. Unreleased changes stay out of CHANGELOG.md, so that no two branches touch the same line.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("Security", "New", "Better", "Fixed", "Removed")


def collect(root: Path = HERE) -> str:
    """The whole changelog as markdown. Raises ValueError for an entry whose first line is not `Kind: text`."""
    releases = sorted((path for path in root.iterdir() if path.is_dir() and "_" in path.name), key=_order, reverse=True)
    parts = ["# Changelog\n\nWhat is not released yet stands in [changelog/unreleased](changelog/unreleased).\n"]
    for release in releases:
        version, date = release.name.split("_", 1)
        parts.append(_section(f"{version}, {date}", release))
    return "\n".join(parts)


def _order(release: Path) -> list[int]:
    return [int(part) for part in release.name.split("_", 1)[0].split(".")]


def unreleased(root: Path = HERE) -> str:
    """The section of the next release. Raises ValueError as `collect` does."""
    return _section("Unreleased", root / "unreleased")


def _section(title: str, folder: Path) -> str:
    entries: list[tuple[int, str, str]] = []
    for path in folder.glob("*.md"):
        head, _, body = path.read_text(encoding="utf-8").strip().partition("\n")
        kind, colon, text = head.partition(": ")
        if not colon or kind not in KINDS:
            raise ValueError(f"{path}: the first line must be 'Kind: text', Kind one of {', '.join(KINDS)}")
        lines = [f"- **{kind}**: {text.strip()}"]
        lines += [f"  {line}".rstrip() for line in body.splitlines()]
        entries.append((KINDS.index(kind), path.name, "\n".join(lines)))
    return f"## {title}\n\n" + "\n".join(entry for _, _, entry in sorted(entries)) + "\n"


def main() -> int:
    if "--unreleased" in sys.argv[1:]:
        print(unreleased(), end="")
        return 0
    target = HERE.parent / "CHANGELOG.md"
    text = collect()
    if "--check" in sys.argv[1:]:
        return int(not target.exists() or target.read_text(encoding="utf-8") != text)
    target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
