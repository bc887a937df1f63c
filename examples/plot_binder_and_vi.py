"""
Binder against variation of information
=======================================

The same draws under two losses. Binder's loss leaves many small clusters at the borders between large ones; the
variation of information rarely does.
"""

import matplotlib.pyplot as plt
import numpy as np

import partita as pt

rng = np.random.default_rng(1)
centres = np.array([[-2, -2], [-2, 2], [2, -2], [2, 2]])
X = centres[rng.integers(4, size=160)] + rng.normal(scale=1.1, size=(160, 2))
chain = pt.models.GaussianDPM(alpha=1.0).sample(X, draws=500, warmup=1000, thin=40, chains=2, rng=1)

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, loss in zip(axes, ("vi", "binder"), strict=True):
    best = pt.estimate(chain, loss, rng=1)
    pt.plots.points(X, best.labels, ax=ax)
    ax.set_title(f"{loss}: {best.n_clusters} clusters, {np.sum(best.sizes <= 2)} of one or two items")

# %%
# The difference between the two: pairs that only one of the estimates joins.
labels = {loss: pt.estimate(chain, loss, rng=1).labels for loss in ("vi", "binder")}
pt.plots.comparison_map(labels["vi"], labels["binder"])
