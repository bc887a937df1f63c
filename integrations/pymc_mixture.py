"""PyMC samples a mixture with discrete labels; its ArviZ data go to partita as they are."""

import numpy as np
import pymc as pm

from mixture import DISTANCE, finish, make_data

y, truth = make_data()
with pm.Model():
    weights = pm.Dirichlet("weights", a=np.full(4, 0.5))
    start = np.append(DISTANCE * np.arange(3), 0.0)
    means = pm.Normal("means", 0, 10, shape=4, initval=start)
    z = pm.Categorical("z", p=weights, shape=y.size)
    pm.Normal("y", means[z], 1, observed=y)
    idata = pm.sample(
        150, tune=150, chains=2, cores=1, random_seed=1, progressbar=False, compute_convergence_checks=False
    )
finish(idata, truth, "PyMC", variable="z")
