"""
A network: the karate club
==========================

The stochastic block model groups members by whom they know: leaders with leaders, followers with followers. With degree
correction the groups are the two clubs of the later split.
"""

import matplotlib.pyplot as plt

import partita as pt
from partita.datasets import load_karate

karate = load_karate()
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, corrected in zip(axes, (False, True), strict=True):
    model = pt.models.StochasticBlockModel(directed=False, degree_corrected=corrected)
    fit = model.maximize(karate.data, rng=1)
    pt.plots.network(karate.data, fit.labels, ax=ax)
    agreement = pt.adjusted_rand(karate.target, fit.labels)
    ax.set_title(
        f"{'degree-corrected' if corrected else 'plain'}: {fit.n_clusters} groups, ARI with the clubs {agreement:.2f}"
    )

# %%
# The matrix of friendships, sorted by group.
plain = pt.models.StochasticBlockModel(directed=False).maximize(karate.data, rng=1)
pt.plots.adjacency_map(karate.data, plain.labels)
