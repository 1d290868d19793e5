#!/usr/bin/env python3
"""The state of the tree: nothing unbuilt, unfinished, overlong or tied to one machine."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

LINES_MAX = 800
CODE = {".cc", ".h", ".hpp", ".py", ".sh", ".cmake"}
LEFTOVERS = {".orig", ".rej", ".bak", ".swp"}
BUILT = {"src", "app", "test", "fuzz", "bench"}
# Written in pieces, so that this file passes its own check.
UNFINISHED = re.compile("|".join([r"\bTO" r"DO\b", r"\bFIX" r"ME\b", r"\bXX" r"X\b", r"#\s*if" r" 0\b",
                                  "DISABLED" "_", "GTEST" "_SKIP"]))
MACHINE_PATH = re.compile(r"(?<![\w.:/~-])/(?:work|root|home/runner)(?![\w-])")


def tree_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = {pathlib.PurePosixPath(name) for name in listed.split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


def is_data(name):
    return name.name == "LICENSE" or {"corpus", "data", "histories"} & set(name.parts)


def sources_in_build(files):
    """Paths that some CMake file names, each relative to the folder of that file."""
    named = set()
    for name in files:
        if name.name == "CMakeLists.txt" or name.suffix == ".cmake":
            text = re.sub(r"#.*", "", (ROOT / name).read_text())
            for word in re.findall(r"[^\s()\"]+\.cc\b", text):
                word = word.replace("${PROJECT_SOURCE_DIR}/", "")
                named.add(name.parent / word)
                named.add(pathlib.PurePosixPath(word))
    return named


def headings(text):
    text = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.M | re.S)
    return len(re.findall(r"^# ", text, flags=re.M))


def main():
    files = tree_files()
    built = sources_in_build(files)
    bad = []
    for name in files:
        if name.suffix == ".cc" and name.parts[0] in BUILT and name not in built:
            bad.append(f"{name}: no CMakeLists.txt names it")
        if name.suffix in LEFTOVERS:
            bad.append(f"{name}: left behind by a tool")
        if is_data(name):
            continue
        try:
            text = (ROOT / name).read_text()
        except UnicodeDecodeError:
            bad.append(f"{name}: not text; binary files belong to a data or corpus folder")
            continue
        lines = text.splitlines()
        if name.suffix in CODE and len(lines) > LINES_MAX:
            bad.append(f"{name}: {len(lines)} lines, at most {LINES_MAX}")
        if text and not text.endswith("\n"):
            bad.append(f"{name}: no newline at the end")
        if name.suffix == ".md" and headings(text) != 1:
            bad.append(f"{name}: {headings(text)} first-level headings, must be 1")
        for number, line in enumerate(lines, 1):
            found = UNFINISHED.search(line) or MACHINE_PATH.search(line)
            if found:
                bad.append(f"{name}:{number}: {found[0]}")
    print("\n".join(bad) or f"tree: {len(files)} files", file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
