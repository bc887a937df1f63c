"""
A network: the karate club
==========================

The stochastic block model groups members who are friends with the same people: the leaders of two factions, and the
followers of each. The later split of the club, on the right, is between the factions.
"""

import matplotlib.pyplot as plt

import partita as pt
from partita.datasets import load_karate

karate = load_karate()
fit = pt.models.StochasticBlockModel(directed=False).maximize(karate.data, rng=1)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, (title, labels) in zip(axes, {"block model": fit.labels, "later clubs": karate.target}.items(), strict=True):
    pt.plots.network(karate.data, labels, ax=ax)
    ax.set_title(f"{title}: {labels.max() + 1} groups")

# %%
# The matrix of friendships, sorted by group.
pt.plots.adjacency_map(karate.data, fit.labels)
