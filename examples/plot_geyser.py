"""
Old Faithful: clusters of eruptions
===================================

A mixture of Gaussians with any covariance, on standardised data, and the posterior of the number of clusters.
"""

import partita as pt
from partita.datasets import load_old_faithful

geyser = load_old_faithful()
chain = pt.models.GaussianDPM(standardize=True).sample(geyser.data, draws=500, warmup=500, thin=2, chains=2, rng=1)
best = pt.estimate(chain, rng=1)
ax = pt.plots.points(geyser.data, best.labels)
ax.set(xlabel="eruption, minutes", ylabel="waiting for the next, minutes")

# %%
pt.plots.cluster_counts(chain, estimate=best.labels)
