"""The same for what comes after an estimate, for pair probabilities and linkage, and for noise: no result depends on
the order of items, draws, rows and pairs, on the names of labels, or on the side on which a record stands in a pair.

Every public function that computes is here, in test_invariance.py, or below with the reason.
"""

import inspect

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita import ensembles, uncertainty
from support.invariance import assert_same, draws_of, moved

#: Public functions that test_invariance.py tests, or that have nothing to be put in another order.
ELSEWHERE = {
    "of labels": "adjusted_rand align_labels canonical compare_partitions covers distances f1 join lau_green meet nmi"
    " pair_loss pairwise_distances partition_loss pear refines vi_lower_bound",
    "of numbers": "bell enumerate_partitions prior_clusters stirling2",
    "reading and writing": "as_sample as_similarity growing_draws open_sample read_draws read_linkage read_report"
    " report resume write_draws write_labels write_linkage",
    "in test_invariance.py": "estimate expected_loss lower_bound similarity weights_for",
}
EXCEPTIONS = {
    "fuse": "draws kernels item by item at random; given their means and covariances it does not: below",
}
KINDS = ["items", "draws", "labels", "duplicates"]


@pytest.mark.parametrize("how", KINDS)
def test_noise_shares(how):
    draws, counts = draws_of(1)
    changed, weights, items = moved(how, draws, counts, np.random.default_rng(1))
    noisy = np.random.default_rng(5).random(draws.shape) < 0.2
    noisy[:, 3] |= np.arange(len(draws)) % 10 > 0

    def view(rows, weights, noise):
        best = pt.estimate(pt.as_sample(np.where(noise, -1, rows), weights=weights, noise=-1), rng=1, check_draws=False)
        return {("labels", "labels"): best.labels, ("item", "noise"): best.noise, ("value", "loss"): best.expected_loss}

    order = np.random.default_rng(1).permutation(len(draws)) if how == "draws" else np.arange(len(draws))
    moved_noise = noisy[order][:, items] if how in ("items", "draws") else noisy
    if how == "duplicates":
        moved_noise = np.repeat(noisy, counts, axis=0)
    assert_same(view(draws, counts, noisy), view(changed, weights, moved_noise), items)


def matched_draws(seed):
    """Draws with one best matching each: of equally good ones `memberships` takes one that depends on the order."""
    draws, counts = draws_of(seed)
    labels = pt.estimate(draws, weights=counts, rng=1, check_draws=False).labels
    alone = [_one_matching(labels, row) for row in draws]
    return labels, draws[alone], counts[alone]


@pytest.mark.parametrize("how", KINDS)
def test_memberships(how):
    for seed in range(3):
        labels, draws, counts = matched_draws(seed)
        changed, weights, items = moved(how, draws, counts, np.random.default_rng(seed))

        def view(rows, weights, labels):
            found = pt.memberships(labels, pt.as_sample(rows, weights=weights))
            return {("item", "own"): found.own, ("item", "other"): found.other}

        assert_same(view(draws, counts, labels), view(changed, weights, labels[items]), items)


def _one_matching(labels, drawn):
    """Whether each cluster of the draw has more than half of its items in one reported cluster, each another."""
    table = pd.crosstab(drawn, labels).to_numpy()
    best = table.argmax(axis=1)
    return len(set(best)) == len(best) and (2 * table.max(axis=1) > table.sum(axis=1)).all()


@pytest.mark.parametrize("how", KINDS)
def test_relate_and_profiles(how):
    rng = np.random.default_rng(3)
    outcome, table = rng.normal(size=10) + np.arange(10) // 4, rng.normal(size=(10, 2))
    _, draws, counts = matched_draws(2)
    changed, weights, items = moved(how, draws, counts, rng)

    def view(rows, weights, order):
        best = pt.estimate(rows, weights=weights, rng=1, check_draws=False)
        found = pt.relate(best, outcome[order])  # its contrasts are with the first cluster: its test is of all
        tests = [found.naive.p_value, found.averaged.p_value, found.corrected.p_value]
        return {
            ("value", "tests"): tests,
            ("value", "bits"): [column.information for column in pt.profiles(best, table[order], rng=1).columns],
        }

    assert_same(view(draws, counts, np.arange(10)), view(changed, weights, items), items)


@pytest.mark.parametrize("how", ["items", "draws", "labels", "order of the data sets"])
def test_pooled_data_sets(how):
    sets = [draws_of(seed)[0] for seed in (1, 2)]
    items = np.arange(10)
    if how == "order of the data sets":
        changed = sets[::-1]
    else:
        moves = [moved(how, draws, np.ones(len(draws)), np.random.default_rng(4)) for draws in sets]
        changed, items = [rows for rows, _, _ in moves], moves[0][2]

    def view(both):
        pooled = pt.pool(both)
        best = pt.estimate(pooled, rng=1, check_draws=False)
        return {("labels", "labels"): best.labels, ("value", "disagreement"): pooled.disagreement}

    assert_same(view(sets), view(changed), items)


@pytest.mark.parametrize("how", ["items", "draws", "labels"])
def test_sensitivity(how):
    draws, counts = draws_of(1)
    changed, _, items = moved(how, draws, counts, np.random.default_rng(1))

    def view(rows):
        changes = pt.sensitivity(rows, alpha=[0.5, 2.0], prior=1.0, rng=1).changes
        return {("value", "changes"): [(row.pareto_k, row.mean_clusters, row.excess or 0.0) for row in changes]}

    assert_same(view(draws), view(changed), items)


@pytest.mark.parametrize("how", ["items", "draws", "labels"])
def test_fuse_with_given_kernels(how):
    draws, counts = draws_of(1)
    draws = np.array([np.unique(row, return_inverse=True)[1] for row in draws])
    rng = np.random.default_rng(2)
    by_item = np.cumsum(np.ones(10))[:, None] * [1.0, 0.5] + rng.normal(size=(len(draws), 10, 2)) / 9
    for draw, rows in zip(draws, by_item, strict=True):
        for label in np.unique(draw):
            rows[draw == label] = rows[draw == label].mean(axis=0)
    changed, _, items = moved("draws" if how == "draws" else how, draws, counts, np.random.default_rng(1))
    kernels = by_item[np.random.default_rng(1).permutation(len(draws))] if how == "draws" else by_item[:, items]

    def view(rows, kernels):
        means = np.zeros((len(rows), 10, 2))
        for place, draw in enumerate(rows):
            means[place, draw] = kernels[place]
        found = pt.fuse(rows, omega=0.5, means=means, covariances=np.broadcast_to(np.eye(2), (*means.shape, 2)), rng=1)
        loss = round(found.expected_loss, 6)  # distances are in single precision
        return {("labels", "labels"): found.labels, ("value", "loss"): loss}

    assert_same(view(draws, by_item), view(changed, kernels), items)


def pairs_of(seed, n=30):
    """Records in threes that are mostly the same entity, and pairs beside them."""
    rng = np.random.default_rng(seed)
    near = [(i, j) for i in range(n) for j in range(i + 1, n) if i // 3 == j // 3]
    far = [(int(i), int(j)) for i, j in np.sort(rng.integers(n, size=(40, 2))) if i // 3 != j // 3]
    table = pd.DataFrame(sorted({*near, *far}), columns=["left", "right"])
    same = table.left // 3 == table.right // 3
    table["probability"] = np.where(same, rng.beta(6, 2, len(table)), rng.beta(1, 6, len(table)))
    return table.assign(left="r" + table.left.astype(str), right="r" + table.right.astype(str))


def changed_pairs(how, table, rng):
    if how == "order of the pairs":
        return table.sample(frac=1, random_state=1)
    if how == "sides of the pairs":
        turned = rng.random(len(table)) < 0.5
        left, right = np.where(turned, table.right, table.left), np.where(turned, table.left, table.right)
        return table.assign(left=left, right=right)
    renamed = dict(zip(RECORDS, rng.permutation(RECORDS), strict=True)) if how == "names of the records" else {}
    return table.replace({"left": renamed, "right": renamed})


RECORDS = [f"r{i}" for i in range(30)]
CHANGES = ["order of the pairs", "sides of the pairs", "order of the records"]


def groups(best):
    """The clusters as sets of names."""
    clusters: dict = {}
    for name, label in zip(best.similarity.names, best.labels, strict=True):
        clusters.setdefault(label, set()).add(name)
    return {frozenset(names) for names in clusters.values()}


def linked(table, how, loss):
    rng = np.random.default_rng(7)
    names = list(rng.permutation(RECORDS)) if how == "order of the records" else RECORDS
    return pt.estimate(pt.as_similarity(changed_pairs(how, table, rng), names=names), loss, rng=1)


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("loss", ["binder", "vi-lower-bound", "pear"])
def test_estimates_from_pairs(loss, how):
    for seed in range(3):
        one, other = linked(pairs_of(seed), "none", loss), linked(pairs_of(seed), how, loss)
        assert one.expected_loss == pytest.approx(other.expected_loss, rel=1e-9)
        assert groups(one) == groups(other)


@pytest.mark.parametrize("how", CHANGES)
def test_updates_and_the_quality_of_a_linkage(how):
    table = pairs_of(4)
    known, more = table.iloc[::2], table.iloc[1::2]
    entities = {name: int(name[1:]) // 3 for name in RECORDS[:15]}

    def view(how):
        first = linked(known, how, "binder")
        later = pt.update(first, changed_pairs(how, more, np.random.default_rng(8)))
        listed = list(entities.items())[:: -1 if how != "none" else 1]
        quality = pt.linkage_quality(later, dict(listed))
        kinds = sorted((change.kind, change.records) for change in later.changes)
        return groups(first), groups(later), kinds, quality.precision, quality.recall

    one, other = view("none"), view(how)
    assert one[:3] == other[:3]
    assert one[3:] == pytest.approx(other[3:], rel=1e-9)


@pytest.mark.parametrize("how", ["rows", "columns", "labels"])
def test_consensus_with_noise(how):
    rng = np.random.default_rng(3)
    base = np.where(rng.random((36, 6)) < 0.15, rng.integers(3, size=(36, 6)), np.repeat([0, 1, 2], 12)[:, None])
    base[rng.random(base.shape) < 0.1] = -1
    base[5, :5] = -1
    rows, columns = np.arange(36), np.arange(6)
    if how == "rows":
        rows = rng.permutation(36)
    if how == "columns":
        columns = rng.permutation(6)
    changed = base[rows][:, columns]
    if how == "labels":
        changed = np.stack([np.append(rng.permutation(3), -1)[column] for column in base.T], axis=1)

    def view(table):
        named = ensembles.as_base(table, noise=-1)
        found = ensembles.summarize(ensembles.consensus(named, rng=1), named)
        return {("labels", "labels"): found.labels, ("item", "certainty"): found.certainty}

    assert_same(view(base), view(changed), rows)


@pytest.mark.parametrize("how", ["order of the rows", "names of the patients"])
def test_curves(how):
    rng = np.random.default_rng(2)
    visits = pd.DataFrame([(i, t, (i % 2) * t + rng.normal() / 3) for i in range(16) for t in range(5)])
    visits.columns = ["patient", "time", "weight"]
    model = pt.models.MixtureDPM(curves=pt.models.Curves(id="patient", time="time"))
    changed, names = visits, np.arange(16)
    if how == "order of the rows":
        first = visits.patient.unique()  # the order of the subjects is that of their first rows
        rest = visits[visits.time > 0].sample(frac=1, random_state=1)
        changed = pd.concat([visits[visits.time == 0], rest])
        assert changed.patient.unique().tolist() == first.tolist()
    else:
        changed = visits.assign(patient="p" + visits.patient.astype(str))
    one, other = (model.maximize(table, rng=1) for table in (visits, changed))
    assert one.icl == pytest.approx(other.icl, rel=1e-9)
    assert_same({("labels", "labels"): one.labels}, {("labels", "labels"): other.labels}, names)


def test_every_public_function_is_tested_or_has_a_reason():
    source = inspect.getsource(inspect.getmodule(test_curves))
    listed = set(" ".join(ELSEWHERE.values()).split()) | EXCEPTIONS.keys() | set(uncertainty.__all__)
    public = {name for name in pt.__all__ if inspect.isfunction(getattr(pt, name))}
    assert {name for name in public - listed if f"pt.{name}(" not in source} == set()
