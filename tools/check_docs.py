#!/usr/bin/env python3
"""The documents are true: links lead somewhere, named tests exist, README commands work.

    check_docs.py PATH_TO_QUIPU

README.md: all ```sh blocks are run in order, as one script in an empty directory, with the given
binary as `quipu` on PATH. Lines `#=> text` after a command are its last lines of output; `...` or
`…` in them stands for anything. Lines that fetch or install (git clone, sudo, cd quipu) are left
out. Of `make` lines, in all documents, only the target must exist.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(`{3,}|~{3,})([^\n]*)\n(.*?)^\1[ \t]*$", re.M | re.S)
CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.S)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)", re.M)
TEST_NAME = re.compile(r"([A-Z]\w*)\.([A-Z]\w*|\*)")
TEST_MACRO = re.compile(
    r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)"
    r"\(\s*(\w+)\s*,\s*(\w+)")
NOT_RUN = re.compile(r"\s*(git clone|sudo|cd quipu\b|make\b)")
EXPECTED = "#=> "


def documents():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in sorted(set(listed.split("\0"))) if name and (ROOT / name).is_file()]


def anchors(path):
    """The ids that GitHub gives to the headings of a document."""
    seen, found = {}, set()
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", FENCE.sub("", path.read_text()), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def check_links(path):
    text = CODE_SPAN.sub("", FENCE.sub("", path.read_text()))
    for match in LINK.finditer(text):
        target = match[1] or match[2]
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        file_part, _, anchor = target.partition("#")
        there = (path.parent / file_part).resolve() if file_part else path
        if not there.exists() or not there.is_relative_to(ROOT):
            yield f"link to {target}: no such file"
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            yield f"link to {target}: no such heading"


def check_test_names(path, tests):
    suites = {suite for suite, _ in tests}
    for span in CODE_SPAN.finditer(FENCE.sub("", path.read_text())):
        found = TEST_NAME.fullmatch(span[2].strip())
        if found and (found[1] not in suites if found[2] == "*" else found.groups() not in tests):
            yield f"no test {span[2]}"


def shell_blocks(path):
    return [found[3] for found in FENCE.finditer(path.read_text()) if found[2].strip() in ("sh", "bash")]


def check_make_lines(path):
    for block in shell_blocks(path):
        for words in re.findall(r"^\s*(?:sudo )?make\b([^#\n]*)", block, re.M):
            run = subprocess.run(["make", "-n", *words.split()], cwd=ROOT, capture_output=True, text=True)
            if run.returncode:
                yield f"make{words}: {run.stderr.strip()}"


def steps(blocks):
    """[(commands, expected lines)]: a step ends where its expected lines end."""
    commands, expected = [], []
    for line in "".join(blocks).splitlines():
        if line.startswith(EXPECTED):
            expected.append(line[len(EXPECTED):])
            continue
        if expected:
            yield commands, expected
            commands, expected = [], []
        if not NOT_RUN.match(line):
            commands.append(line)
    yield commands, expected


def as_pattern(line):
    return ".*".join(re.escape(piece) for piece in re.split(r"\.\.\.|…", line.rstrip()))


def check_commands(path, quipu):
    todo = list(steps(shell_blocks(path)))
    mark = "--- end of step"
    script = "set -e\n" + "".join(
        "\n".join(commands) + f"\nprintf '%s\\n' '{mark}'\n" for commands, _ in todo)
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch, "home")
        bin_dir = pathlib.Path(scratch, "bin")
        work = pathlib.Path(scratch, "here")
        for folder in (home, bin_dir, work):
            folder.mkdir()
        (bin_dir / "quipu").symlink_to(quipu)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("QUIPU_", "XDG_"))}
        environment |= {"HOME": str(home), "PATH": f"{bin_dir}:{os.environ['PATH']}", "NO_COLOR": "1"}
        run = subprocess.run(["bash", "-c", script], cwd=work, env=environment, timeout=300,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True)
    outputs = run.stdout.split(mark + "\n")
    for (commands, expected), output in zip(todo, outputs):
        printed = output.rstrip("\n").split("\n")[-len(expected):] if expected else []
        if len(printed) != len(expected) or not all(
                re.fullmatch(as_pattern(want), got.rstrip()) for want, got in zip(expected, printed)):
            yield "\n  ".join(["after:", *commands, "printed:", *printed, "expected:", *expected])
    if run.returncode:
        failed = min(len(outputs) - 1, len(todo) - 1)
        yield "\n  ".join([f"exit code {run.returncode} from:", *todo[failed][0], run.stderr.strip()])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    quipu = pathlib.Path(sys.argv[1]).resolve()
    tests = {match.groups() for source in (ROOT / "test").rglob("*.cc")
             for match in TEST_MACRO.finditer(source.read_text())}
    bad = []
    for path in documents():
        problems = [*check_links(path), *check_test_names(path, tests), *check_make_lines(path)]
        if path == ROOT / "README.md":
            problems += check_commands(path, quipu)
        bad += [f"{path.relative_to(ROOT)}: {problem}" for problem in problems]
    print("\n".join(bad) or f"documents: {len(documents())} are true", file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
