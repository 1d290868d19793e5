#!/usr/bin/env python3
"""Makes a collection for quality.py --mode sessions of Markdown files: what is to be found has few
of the words of the question itself, and stands beside what has them.

A file is a session and a paragraph a message of it, in their order. A heading is a question, and
the paragraphs below it, up to the next heading, are right. Headings themselves are no messages.
Those that two sections have ask for nothing in particular, and are left out.

  sections.py DIRECTORY OUTPUT [--words 1] [--queries 2000]
"""
import argparse
import collections
import json
import pathlib
import random
import re

HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
UNDERLINE = re.compile(r" {0,3}(=+|-{3,})\s*$")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
# Links, pictures, emphasis and tags: of a heading its words are the question.
LINK = re.compile(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])")
MARKS = re.compile(r"[`*]|<[^>]*>|\{[^}]*\}")


def blocks(text):
    """("heading", words) and ("paragraph", lines) in their order; a block of code is a paragraph."""
    lines, fence = [], None
    for line in text.splitlines() + [""]:
        if fence:
            lines.append(line)
            if line.strip().startswith(fence):
                fence = None
            continue
        opened, heading = FENCE.match(line), HEADING.match(line)
        if opened:
            fence = opened[1]
            lines.append(line)
        elif heading or (UNDERLINE.match(line) and len(lines) == 1):
            if heading and lines:
                yield "paragraph", "\n".join(lines)
            yield "heading", MARKS.sub("", LINK.sub(r"\1", heading[2] if heading else lines[0])).strip()
            lines = []
        elif line.strip():
            lines.append(line)
        elif lines:
            yield "paragraph", "\n".join(lines)
            lines = []
    if lines:
        yield "paragraph", "\n".join(lines)


def collect(directory):
    """Messages, and for each heading the sections that have it: lists of messages."""
    documents, sections, seen = [], collections.defaultdict(list), set()
    for path in sorted(directory.rglob("*.md")):
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        # Packages come with the same file again and again.
        if text in seen:
            continue
        seen.add(text)
        section = None
        for kind, words in blocks(text):
            if kind == "heading":
                section = []
                sections[words].append(section)
                continue
            documents.append({"id": f"d{len(documents)}", "scope": f"f{len(seen)}", "text": words})
            if section is not None:
                section.append(documents[-1]["id"])
    return documents, sections


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--words", type=int, default=1, help="headings of at least so many")
    parser.add_argument("--queries", type=int, default=2000, help="at most so many, chosen by lot")
    arguments = parser.parse_args()

    documents, sections = collect(arguments.directory)
    questions = sorted(words for words, having in sections.items()
                       if len(having) == 1 and having[0] and len(words.split()) >= arguments.words)
    random.Random(1).shuffle(questions)
    arguments.output.mkdir(parents=True, exist_ok=True)
    with (arguments.output / "corpus.jsonl").open("w", encoding="utf-8") as corpus:
        for document in documents:
            print(json.dumps(document, ensure_ascii=False), file=corpus)
    with (arguments.output / "queries.jsonl").open("w", encoding="utf-8") as queries, \
            (arguments.output / "qrels.tsv").open("w", encoding="utf-8") as qrels:
        for number, words in enumerate(questions[:arguments.queries]):
            print(json.dumps({"id": f"q{number}", "text": words}, ensure_ascii=False), file=queries)
            for document in sections[words][0]:
                print(f"q{number}\t{document}\t1", file=qrels)


if __name__ == "__main__":
    main()
