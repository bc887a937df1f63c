"""
Galaxies: from data to a credible ball
======================================

The velocities of 82 galaxies, clustered by a Dirichlet process mixture of Gaussians. One clustering is the best summary
of the posterior; the credible ball shows how different the truth may be.
"""

import matplotlib.pyplot as plt

import partita as pt
from partita.datasets import load_galaxies

velocity = load_galaxies().data / 1000
model = pt.models.GaussianDPM(covariance="diag")
chain = model.sample(velocity, draws=500, warmup=500, thin=5, chains=2, rng=1)
best = pt.estimate(chain, "vi", rng=1)
print(best)

# %%
# The estimate in the middle of its 95 % credible ball, and the extremes of the ball. The curve is a kernel density.
ball = pt.credible_ball(best, level=0.95)
figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), sharex=True, layout="constrained")
pt.plots.ball_panels(velocity[:, 0], best.labels, ball, most=1, axes=axes)
