"""Block models of networks and bipartite matrices: stochastic and latent, maximised and sampled, and other methods."""
