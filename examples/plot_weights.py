"""
The weights a and b of a loss
=============================

Splitting what belongs together costs a, joining what does not costs b = 2 - a. A small a gives many clusters, a large
one few. The curves are estimates on the same draws.
"""

import matplotlib.pyplot as plt
import numpy as np

import partita as pt
from partita.datasets import make_draws

sample = pt.as_sample(make_draws(n_items=80, n_draws=500, n_clusters=6, doubt=0.15, rng=3))
weights = np.linspace(0.2, 1.8, 13)
figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for name, kind in {"VI": pt.VI, "Binder": pt.Binder}.items():
    counts = [pt.estimate(sample, kind(a=a, b=2 - a), search=pt.Search(runs=8), rng=1).n_clusters for a in weights]
    pt.plots.weight_path(weights, counts, label=name, ax=ax)
ax.legend()

# %%
# If the number of clusters is prescribed, `weights_for` finds the weight that leads to it.
print(pt.weights_for(sample, "vi", n_clusters=8, rng=1))
