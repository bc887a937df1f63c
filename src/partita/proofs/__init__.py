"""Lower bounds on the least expected loss: what is behind `est.bound()`."""
