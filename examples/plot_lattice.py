"""
The lattice of partitions and a credible ball
=============================================

All 15 partitions of four items, from four singletons to a single cluster. The partitions inside the credible ball are
coloured, and the height of a partition is its entropy.
"""

import numpy as np

import partita as pt

rng = np.random.default_rng(1)
partitions = np.array([[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 0, 1], [0, 1, 2, 3]])
draws = partitions[rng.choice(4, size=200, p=[0.6, 0.2, 0.15, 0.05])]
best = pt.estimate(draws, "vi", rng=1)
ball = pt.credible_ball(best, level=0.8)
pt.plots.hasse(4, center=best.labels, radius=ball.radius, loss="vi", stretch="vi")
