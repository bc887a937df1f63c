"""
The similarity matrix and uncertain items
=========================================

The share of the draws in which two items are together, ordered so that clusters appear as blocks; then the certainty of
each item.
"""

import partita as pt
from partita.datasets import make_draws

sample = pt.as_sample(make_draws(n_items=100, n_draws=1000, n_clusters=5, doubt=0.12, rng=2))
best = pt.estimate(sample, rng=1)
pt.plots.similarity_map(pt.similarity(sample), best.labels)

# %%
# The least certain items of each cluster are at the bottom of its bar.
certainty = pt.item_certainty(best)
pt.plots.item_certainty(best.labels, certainty.probability)
print("look first at", pt.items_to_check(best, count=5))
