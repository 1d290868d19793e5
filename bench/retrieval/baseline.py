#!/usr/bin/env python3
"""What SQLite's own full-text search finds in a collection, with the tokenizers that it brings along:
what quality.py reports is to be seen beside it.

Questions are asked as alternatives (OR) of their words; `porter` drops stop words.

  baseline.py DIRECTORY
"""
import argparse
import pathlib
import re
import sqlite3

import collection_files

# The usual English function words.
STOP_WORDS = set("""a an the i me my we us our you your he him his she her it its they them their this that these
those who whom whose which what when where why how am is are was were be been being do does did done have has had
having can could shall should would might must and or but nor if then else because as until while though since
unless whether than of at by for with about against between into through during to from in on off over under out up
down not no so too very just also only own same such both each any all some more most other here there again once
now s t d ll m re ve""".split())


def words(text):
    return re.findall(r"\w+", text)


def windows(text):
    return [text[i:i + 3] for i in range(max(1, len(text) - 2))]


def kept(text):
    return [word for word in words(text) if word.lower() not in STOP_WORDS] or words(text)


RUNS = {
    "unicode61, OR": ("unicode61", words),
    "porter, OR, stop words dropped": ("porter unicode61", kept),
    "trigram, OR of windows": ("trigram", windows),
}


def answers_of(collection, tokenizer, split):
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE documents USING fts5(scope UNINDEXED, text, tokenize = '{tokenizer}')")
    database.executemany("INSERT INTO documents VALUES (?, ?)", (
        (document.get("scope"), "\n".join(filter(None, (document.get("title"), document["text"]))))
        for document in collection.documents))
    answers = {}
    for query in collection.queries:
        pieces = dict.fromkeys(piece.replace('"', '""') for piece in split(query["text"]))
        rows = database.execute(
            "SELECT rowid FROM documents WHERE documents MATCH ? AND (?2 IS NULL OR scope = ?2) "
            "ORDER BY bm25(documents) LIMIT 100",
            (" OR ".join(f'"{piece}"' for piece in pieces) or '""', query.get("scope")))
        answers[query["id"]] = [collection.documents[row - 1]["id"] for row, in rows]
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    collection = collection_files.Collection(parser.parse_args().directory)
    for name, (tokenizer, split) in RUNS.items():
        values = collection_files.measures(collection, answers_of(collection, tokenizer, split))
        print(f"{name:32}" + "".join(f"  {measure} {value:.4f}" for measure, value in values.items()), flush=True)


if __name__ == "__main__":
    main()
