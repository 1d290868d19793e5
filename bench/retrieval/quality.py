#!/usr/bin/env python3
"""How well `quipu` finds: loads a collection into a store, asks its questions, compares with the
right answers.

  quality.py DIRECTORY --store sqlite:/tmp/a.db --mode memory
  quality.py DIRECTORY --store file:/tmp/b --store postgres://... --mode knowledge --close 0.01

DIRECTORY has corpus.jsonl, queries.jsonl and qrels.tsv (docs/search.md). The store should be empty:
what is in it already is searched, too.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import threading
import time

import collection_files

# For questions and documents without a scope.
SCOPE = "documents"


def without_nulls(**members):
    return {name: value for name, value in members.items() if value is not None}


def whole_text(document):
    return "\n".join(filter(None, (document.get("title"), document["text"])))


class Quipu:
    """The command line on one store."""

    def __init__(self, program, store):
        self.command = [program, "--store", store]

    def run(self, arguments, lines=()):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        done = subprocess.run(self.command + arguments, input=text, text=True, encoding="utf-8",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def ask(self, arguments, queries):
        """The answers to all queries, in their order, and the milliseconds until each was there."""
        asked = subprocess.Popen(self.command + arguments, text=True, encoding="utf-8",
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(asked.stderr.read()))
        reader.start()
        answers, times = [], []
        for query in queries:
            start = time.perf_counter()
            try:
                asked.stdin.write(json.dumps(query, ensure_ascii=False) + "\n")
                asked.stdin.flush()
            except BrokenPipeError:
                break
            line = asked.stdout.readline()
            if not line:
                break
            times.append((time.perf_counter() - start) * 1000)
            answers.append(json.loads(line))
        asked.stdin.close()
        reader.join()
        if asked.wait() != 0 or len(answers) != len(queries):
            raise SystemExit(f"{' '.join(arguments)}: {len(answers)} answers: {errors[0].strip()}")
        return answers, times


class Memory:
    """A document is a node; a scope is an agent."""

    def load(self, quipu, documents):
        quipu.run(["memory", "add", "-"], (
            without_nulls(id=document["id"], kind="long", text=whole_text(document), context=document.get("context"),
                          agentId=document.get("scope"), embedding=document.get("embedding"))
            for document in documents))

    def ask(self, quipu, queries, options):
        answers, times = quipu.ask(["memory", "search", "--queries", "-", "--json", *options], [
            without_nulls(id=query["id"], text=query["text"], agentId=query.get("scope"),
                          embedding=query.get("embedding")) for query in queries])
        return [[item["id"] for item in answer["items"]] for answer in answers], times


class Knowledge:
    """A document is a document; there are no scopes."""

    def load(self, quipu, documents):
        quipu.run(["knowledge", "add", "--jsonl", "-"], (
            without_nulls(id=document["id"], text=document["text"], title=document.get("title"),
                          embedding=document.get("embedding"))
            for document in documents))

    def ask(self, quipu, queries, options):
        answers, times = quipu.ask(["knowledge", "query", "--queries", "-", "--json", *options], [
            without_nulls(id=query["id"], text=query["text"], embedding=query.get("embedding"))
            for query in queries])
        return [[item["id"] for item in answer["items"]] for answer in answers], times


class Sessions:
    """A document is a message; a scope is a session. `context` is what is around the message anyway."""

    def load(self, quipu, documents):
        scopes = collections.defaultdict(list)
        for document in documents:
            scopes[document.get("scope") or SCOPE].append(document)
        for scope, members in scopes.items():
            quipu.run(["new", "--id", scope])
            quipu.run(["append", scope, "--batch", "1000"], (
                {"id": document["id"], "type": "message",
                 "payload": {"role": "user", "content": whole_text(document)}} for document in members))

    def ask(self, quipu, queries, options):
        answers, times = quipu.ask(["search", "--all", "--queries", "-", "--json", *options], [
            without_nulls(id=query["id"], text=query["text"], session=query.get("scope")) for query in queries])
        return [[item["entryId"] for item in answer["items"]] for answer in answers], times


MODES = {"memory": Memory, "knowledge": Knowledge, "sessions": Sessions}


def measure(arguments, collection, store):
    mode = MODES[arguments.mode]()
    quipu = Quipu(arguments.quipu, store)
    start = time.perf_counter()
    if not arguments.loaded:
        quipu.run(["init"])
        mode.load(quipu, collection.documents)
    loaded = time.perf_counter() - start
    options = ["--limit", str(arguments.depth)] + (["--hybrid"] if arguments.hybrid else [])
    options += ["--neighbours", arguments.neighbours] if arguments.neighbours else []
    found, times = mode.ask(quipu, collection.queries, options)
    # The first question waits for the index.
    times = sorted(times[1:] or times)
    values = collection_files.measures(collection, {
        query["id"]: answer for query, answer in zip(collection.queries, found)})
    return {**values, "p50 ms": times[len(times) // 2], "p95 ms": times[len(times) * 95 // 100], "load s": loaded}


def print_table(results, columns):
    width = max(len(store) for store in results)
    print(" " * width + "".join(f"{column:>9}" for column in columns))
    for store, values in results.items():
        print(f"{store:{width}}" + "".join(
            f"{values[column]:9.4f}" if column in values and column[-1] not in "s" else f"{values.get(column, 0):9.2f}"
            for column in columns))


def failures(arguments, results):
    """What is below a bar, and measures in which two stores are too far from each other."""
    found = []
    for store, values in results.items():
        for name, least in arguments.bar:
            if values[name] < least:
                found.append(f"{store}: {name} {values[name]:.4f} is less than {least}")
    if arguments.close is not None:
        first, second = results.values()
        for name in ("R@5", "R@10", "nDCG@10", "MRR@10", "MAP"):
            if abs(first[name] - second[name]) > arguments.close:
                found.append(f"{name}: {first[name]:.4f} and {second[name]:.4f} differ by more than {arguments.close}")
    return found


def bar(text):
    name, _, least = text.partition("=")
    return name, float(least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--store", action="append", required=True, metavar="URL", help="one, or two to compare")
    parser.add_argument("--mode", choices=MODES, required=True)
    parser.add_argument("--quipu", default="quipu", metavar="PROGRAM")
    parser.add_argument("--depth", type=int, default=100, help="answers asked for; what is MAP counted over")
    parser.add_argument("--hybrid", action="store_true", help="vectors, too (memory, knowledge)")
    parser.add_argument("--neighbours", metavar="W", help="as of quipu search (sessions)")
    parser.add_argument("--loaded", action="store_true", help="the stores have the collection already")
    parser.add_argument("--bar", action="append", type=bar, default=[], metavar="R@5=0.9", help="fail below it")
    parser.add_argument("--close", type=float, metavar="0.01", help="fail if two stores differ by more")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if len(arguments.store) > 2 or (arguments.close is not None and len(arguments.store) != 2):
        parser.error("one store, or two to compare")

    collection = collection_files.Collection(arguments.directory)
    if not collection.queries:
        raise SystemExit(f"{arguments.directory}: no question has an answer in qrels.tsv")
    results = {store: measure(arguments, collection, store) for store in arguments.store}
    if arguments.json:
        print(json.dumps({"queries": len(collection.queries), "documents": len(collection.documents),
                          "stores": results}))
    else:
        print(f"{len(collection.documents)} documents, {len(collection.queries)} questions")
        columns = list(next(iter(results.values())))
        if len(results) == 2:
            first, second = results.values()
            results_shown = {**results, "difference": {name: second[name] - first[name] for name in columns}}
        else:
            results_shown = results
        print_table(results_shown, columns)
    wrong = failures(arguments, results)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
