"""Runs JAGS through R, and reads its draws as an rds file of a coda mcmc.list and as a csv file."""

import subprocess

import numpy as np

import partita as pt
from mixture import finish, make_data

y, truth = make_data()
np.savetxt("y.txt", y)
subprocess.run(["Rscript", f"{__file__.rsplit('/', 1)[0]}/jags_mixture.R"], check=True)
finish(pt.read_draws("jags.rds", variable="z"), truth, "JAGS-rds")
finish(pt.read_draws("jags.csv", variable="z"), truth, "JAGS-csv")
