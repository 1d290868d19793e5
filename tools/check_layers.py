#!/usr/bin/env python3
"""Who may include whom: the arrows of docs/architecture.md, read from the #include lines."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A folder may also include what its neighbours here may include.
ARROWS = {
    "base": [],
    "fs": ["base"],
    "net": ["base"],
    "model": ["base"],
    "log": ["model", "fs"],
    "tree": ["base"],
    "backend": ["log", "model", "tree", "sql"],
    "sql": ["base"],
    "search": ["base", "sql"],
    "dialect": ["model", "fs", "sql"],
    "context": ["backend", "tree", "dialect"],
    "view": ["backend", "dialect", "sql", "search"],
    "events": ["backend"],
    "recall": ["backend", "model", "net", "search"],
    "store": ["backend", "log", "model", "tree", "context", "view", "search", "events", "recall"],
    "exchange": ["store", "dialect"],
}
# Where the parts of a folder are put together.
SEES_ALL = [("dialect", "registry.cc"), ("dialect", "lift.cc")]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Libraries for programs and tests: nothing of the library may need them.
NOT_IN_LIBRARY = ("gtest/", "gmock/", "rapidcheck", "benchmark/", "fmt/", "CLI/")
# Libraries that one folder alone may include.
ONLY_IN = {"sqlite3": "sql", "libpq": "sql", "zstd": "fs", "utf8proc": "search", "curl/": "net"}


def reach(folder):
    seen = {folder}
    for other in ARROWS[folder]:
        seen |= reach(other)
    return seen


def part_of(parts):
    """The folder below backend/ or dialect/, or None for what its parts share."""
    return parts[1] if len(parts) > 2 and parts[0] in ("backend", "dialect") else None


def complaint(path, target, quoted):
    """Why `path` (from ROOT) may not include `target` (as it is written), or None."""
    top = path.parts[0]
    parts = pathlib.PurePosixPath(target).parts
    if top in ("src", "include") and target.startswith(NOT_IN_LIBRARY):
        return "the library does not use it"
    for library, folder in ONLY_IN.items():
        if target.startswith(library) and path.parts[:2] != ("src", folder):
            return f"only src/{folder} includes it"
    if parts[0] == "quipu":
        return None if (ROOT / "include" / target).is_file() else "no such public header"
    in_src = (ROOT / "src" / target).is_file()
    if top == "include":
        return "public headers include public headers only" if quoted or in_src else None
    if top == "app":
        return "programs see include/quipu only" if in_src else None
    if not quoted:
        return None
    if not in_src:
        return "includes are written as paths from src/"
    own = path.parts[1:]
    if parts[0] not in reach(own[0]):
        return f"{own[0]} may include {', '.join(sorted(reach(own[0])))}"
    mine, other = part_of(own), part_of(parts)
    if own[0] == parts[0] and other and mine != other and own not in SEES_ALL:
        return f"the parts of {own[0]}/ do not see each other, and what they share sees none of them"
    return None


def main():
    bad = count = 0
    for top in ("include", "src", "app"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".hpp", ".cc"):
                continue
            count += 1
            relative = path.relative_to(ROOT)
            if top == "src" and relative.parts[1] not in ARROWS:
                print(f"{relative}: folder {relative.parts[1]} is not in the map of tools/check_layers.py")
                bad += 1
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                why = found and complaint(relative, found[2], found[1] == '"')
                if why:
                    print(f"{relative}:{number}: {line.strip()}: {why}")
                    bad += 1
    print(f"layers: {count} files, {bad} wrong", file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
