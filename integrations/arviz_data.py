"""ArviZ data of either major version, in memory and from a netCDF file."""

import arviz as az
import numpy as np

import partita as pt
from mixture import finish, gibbs, make_data

y, truth = make_data()
z = np.stack([gibbs(y, seed=seed) for seed in (1, 2)])
groups = {"posterior": {"z": z, "means": np.zeros((2, z.shape[1], 3))}}
idata = az.from_dict(groups) if az.__version__ >= "1" else az.from_dict(**groups)
print("ArviZ", az.__version__)
finish(idata, truth, "ArviZ", variable="z")
idata.to_netcdf("draws.nc")
finish(pt.read_draws("draws.nc", variable="z"), truth, "ArviZ-netCDF")
