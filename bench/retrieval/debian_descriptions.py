#!/usr/bin/env python3
"""Makes a collection for quality.py of Debian's package descriptions, in any of their languages.

A document is the long description of a package, a question its one-line summary, which is not in
the document; right is every document whose package has that summary. The files are on every Debian
mirror, below dists/bookworm/main/i18n; `apt-get -o Acquire::Languages=ja update` fetches one, too.

  debian_descriptions.py Translation-ja.bz2 DIRECTORY [--queries 2000]
"""
import argparse
import bz2
import json
import lzma
import pathlib
import random
import re

# A line end amid Chinese or Japanese was made for the width of a terminal, also inside a word.
WRAPPED = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff])\n(?=[\u3040-\u30ff\u3400-\u9fff])")
OPENERS = {".bz2": bz2.open, ".xz": lzma.open}


def packages(path):
    """(name, summary, description) of each stanza."""
    with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        for stanza in file.read().split("\n\n"):
            name = re.search(r"^Package: (.+)$", stanza, re.M)
            text = re.search(r"^Description-(?!md5)[\w@]+: (.*)\n((?: .*\n?)*)", stanza, re.M)
            if name and text:
                lines = [line[1:].strip() for line in text[2].splitlines()]
                description = "\n".join("" if line == "." else line for line in lines)
                yield name[1], text[1].strip(), WRAPPED.sub("", description)


def collect(path):
    """Documents by their text, and for each summary the documents that it is right for."""
    ids, right = {}, {}
    for name, summary, description in packages(path):
        if summary and len(description) >= 40 and summary not in description:
            document = ids.setdefault(description, name)
            right.setdefault(summary, set()).add(document)
    return {name: text for text, name in ids.items()}, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--queries", type=int, default=2000, help="at most so many, chosen by lot")
    arguments = parser.parse_args()

    documents, right = collect(arguments.source)
    summaries = sorted(right)
    random.Random(1).shuffle(summaries)
    arguments.directory.mkdir(parents=True, exist_ok=True)
    with (arguments.directory / "corpus.jsonl").open("w") as corpus:
        for name, text in documents.items():
            print(json.dumps({"id": name, "text": text}, ensure_ascii=False), file=corpus)
    with (arguments.directory / "queries.jsonl").open("w") as queries, \
            (arguments.directory / "qrels.tsv").open("w") as qrels:
        for number, summary in enumerate(summaries[:arguments.queries]):
            print(json.dumps({"id": f"q{number}", "text": summary}, ensure_ascii=False), file=queries)
            for name in sorted(right[summary]):
                print(f"q{number}\t{name}\t1", file=qrels)


if __name__ == "__main__":
    main()
