"""NumPyro marginalises the labels out and draws them afterwards; the chains stay apart."""

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import random
from numpyro.infer import MCMC, NUTS, init_to_value

from mixture import DISTANCE, finish, make_data

y, truth = make_data()


def model(y):
    weights = numpyro.sample("weights", dist.Dirichlet(0.5 * jnp.ones(4)))
    means = numpyro.sample("means", dist.Normal(0, 10).expand([4]).to_event(1))
    numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(weights), dist.Normal(means, jnp.ones(4))), obs=y)


start = init_to_value(values={"means": jnp.append(DISTANCE * jnp.arange(3.0), -5.0)})
mcmc = MCMC(
    NUTS(model, init_strategy=start),
    num_warmup=200,
    num_samples=200,
    num_chains=2,
    chain_method="sequential",
    progress_bar=False,
)
mcmc.run(random.key(0), jnp.asarray(y))
found = mcmc.get_samples(group_by_chain=True)
log_p = jnp.log(found["weights"])[:, :, None] - (y[:, None] - found["means"][:, :, None, :]) ** 2 / 2
z = np.asarray(random.categorical(random.key(1), log_p))  # (chains, draws, items)
finish(z, truth, "NumPyro")
