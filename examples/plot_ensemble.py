"""
One clustering from many
========================

Fifteen runs of k-means with different numbers of clusters, and the consensus that a nonparametric Bayesian ensemble
finds. The last figure shows how certain it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import partita as pt

rng = np.random.default_rng(2)
angle = rng.uniform(0, np.pi, 150)
moons = np.stack([np.cos(angle), np.sin(angle)], axis=1)
moons[75:] = [1, 0.4] - moons[75:]
X = moons + rng.normal(scale=0.08, size=moons.shape)

base = pt.ensembles.kmeans_ensemble(X, k=4, n_clusterings=15, rng=1)
nbce = pt.ensembles.NBCE(sampling=pt.models.Sampling(draws=500, warmup=500, chains=2), random_state=1).fit(base)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharex=True, sharey=True)
for ax, column in zip(axes, (0, 4), strict=False):
    pt.plots.points(X, base[:, column], ax=ax)
    ax.set_title(f"k-means with {base[:, column].max() + 1} clusters")
pt.plots.points(X, nbce.labels_, ax=axes[2])
axes[2].set_title(f"consensus: {nbce.n_clusters_} clusters")

# %%
# The certainty of each point.
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
shown = ax.scatter(*X.T, c=nbce.certainty_, cmap="viridis", vmin=0, vmax=1, s=18)
figure.colorbar(shown, label="certainty")
