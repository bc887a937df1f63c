# JAGS samples the mixture; its draws go out as CODA files and as an rds file of the mcmc.list.
library(rjags)

y <- scan("y.txt", quiet = TRUE)
model <- "
model {
  for (i in 1:n) {
    z[i] ~ dcat(weights)
    y[i] ~ dnorm(means[z[i]], 1)
  }
  weights ~ ddirch(rep(0.5, 4))
  for (k in 1:4) { means[k] ~ dnorm(0, 0.01) }
}"
starts <- lapply(1:2, function(seed) {
  list(means = c(0, 6, 12, -5), .RNG.name = "base::Wichmann-Hill", .RNG.seed = seed)
})
fitted <- jags.model(textConnection(model), list(y = y, n = length(y)), starts, n.chains = 2, quiet = TRUE)
update(fitted, 200, progress.bar = "none")
draws <- coda.samples(fitted, c("z", "means"), 300, progress.bar = "none")
saveRDS(draws, "jags.rds")
write.csv(as.matrix(draws), "jags.csv", row.names = FALSE)
