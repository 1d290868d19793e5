"""A collection on the disk: corpus.jsonl, queries.jsonl, qrels.tsv (docs/search.md has the format)."""
import json
import math


def read_lines(path):
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                item = json.loads(line)
                item["id"] = str(item.pop("_id", item.get("id", "")))
                if not item["id"] or not isinstance(item.get("text"), str):
                    raise SystemExit(f"{path}:{number}: needs an id and a text")
                yield item


def read_qrels(path):
    """For each query the documents that answer it, with how well."""
    right = {}
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 3:
                raise SystemExit(f"{path}:{number}: query, document and score, with tabs between them")
            try:
                score = float(fields[2])
            except ValueError:
                if number == 1:
                    continue  # a header
                raise SystemExit(f"{path}:{number}: the score is no number") from None
            if score > 0:
                right.setdefault(fields[0], {})[fields[1]] = score
    return right


class Collection:
    def __init__(self, directory):
        self.documents = list(read_lines(directory / "corpus.jsonl"))
        self.right = read_qrels(directory / "qrels.tsv")
        # A question that nothing answers measures nothing.
        self.queries = [query for query in read_lines(directory / "queries.jsonl") if query["id"] in self.right]


def recall(found, right, depth):
    return sum(document in right for document in found[:depth]) / len(right)


def ndcg(found, right, depth):
    gains = [right.get(document, 0) for document in found[:depth]]
    best = sorted(right.values(), reverse=True)[:depth]
    def discounted(values):
        return sum(value / math.log2(rank + 2) for rank, value in enumerate(values))
    return discounted(gains) / discounted(best)


def reciprocal_rank(found, right, depth):
    return next((1 / (rank + 1) for rank, document in enumerate(found[:depth]) if document in right), 0.0)


def average_precision(found, right):
    hits = total = 0
    for rank, document in enumerate(found):
        if document in right:
            hits += 1
            total += hits / (rank + 1)
    return total / len(right)


def measures(collection, answers):
    """`answers`: for each query the ids of documents, best first. Means over all queries."""
    sums = dict.fromkeys(("R@5", "R@10", "nDCG@10", "MRR@10", "MAP"), 0.0)
    for query in collection.queries:
        found, right = answers.get(query["id"], []), collection.right[query["id"]]
        sums["R@5"] += recall(found, right, 5)
        sums["R@10"] += recall(found, right, 10)
        sums["nDCG@10"] += ndcg(found, right, 10)
        sums["MRR@10"] += reciprocal_rank(found, right, 10)
        sums["MAP"] += average_precision(found, right)
    return {name: value / max(1, len(collection.queries)) for name, value in sums.items()}
