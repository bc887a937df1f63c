# Draws of two clear clusters with some noise, from R's own generator.
make_draws <- function(n = 20, draws = 200, seed = 1) {
  set.seed(seed)
  truth <- rep(1:2, each = n / 2)
  t(replicate(draws, {
    z <- truth
    z[sample(n, 1)] <- 3L
    if (runif(1) < 0.5) (4L - z) else z
  }))
}
draws <- make_draws()

test_that("the estimate is the partition that was put in, counted from 1", {
  set.seed(7)
  best <- partita(draws)
  expect_s3_class(best, "partita.estimate")
  expect_equal(as.integer(best), rep(1:2, each = 10))
  losses <- apply(draws, 1, function(z) partition.loss(z, best))
  expect_equal(attr(best, "expectedLoss"), mean(losses))
  expect_output(print(best), "20 items in 2 clusters of 10, 10 items")
})

test_that("set.seed makes the answer reproducible", {
  set.seed(3); first <- partita(draws, binder(a = 0.7, b = 1.3))
  set.seed(3); second <- partita(draws, binder(a = 0.7, b = 1.3))
  expect_identical(attr(first, "seed"), attr(second, "seed"))
  expect_identical(as.integer(first), as.integer(second))
})

test_that("losses agree with their formulas", {
  truth <- c(1, 1, 2, 2); other <- c(1, 1, 1, 2)
  entropy <- function(p) -sum(p * log2(p))
  joint <- entropy(c(2, 1, 1) / 4)
  expect_equal(partition.loss(truth, other), 2 * joint - entropy(c(2, 2) / 4) - entropy(c(3, 1) / 4))
  expect_equal(partition.loss(truth, truth, binder()), 0)
  expect_equal(partition.loss(truth, other, "VI"), partition.loss(truth, other, VI()))
  expect_error(partition.loss(truth, other, "gini"), "loss must be one of")
})

test_that("one weight alone is refused, since salso and the Python package set the other differently", {
  expect_equal(VI(), VI(a = 1, b = 1))
  expect_equal(VI(a = 1), VI())
  expect_error(VI(a = 0.5), "VI\\(a = 0.5\\) needs both weights")
  expect_error(binder(a = 0.7), "needs both weights")
  expect_equal(VI(a = 0.5, b = 1.5)$b, 1.5)
})

test_that("the similarity matrix is the share of draws that join two items", {
  mine <- Reduce(`+`, lapply(seq_len(nrow(draws)), function(t) outer(draws[t, ], draws[t, ], "=="))) / nrow(draws)
  expect_equal(psm(draws), mine)
})

test_that("a ball, a summary, items and a partial clustering come from an estimate", {
  best <- partita(draws, seed = 1)
  ball <- credible_ball(best, level = 0.9)
  expect_gte(ball$mass, 0.9)
  expect_equal(ball$radius, max(apply(draws, 1, function(z) partition.loss(z, best))), tolerance = 1)
  expect_true(all(ball$upper[[1]] >= 1))
  expect_output(print(ball), "90% credible ball")
  told <- summary(best)
  expect_equal(told$clusters$size, c(10, 10))
  expect_true(all(told$items$certainty > 0.5))
  expect_output(print(told), "Items to look at first")
  expect_length(items_to_check(best, 3), 3)
  part <- partial_clustering(draws, probability = 0.5, seed = 1)
  expect_equal(length(part), 20)
})

test_that("names, chains, words and coda are understood", {
  named <- draws
  colnames(named) <- paste0("item", 1:20)
  expect_equal(names(partita(named, seed = 1)), colnames(named))
  expect_equal(as.integer(partita(list(draws[1:100, ], draws[101:200, ]), seed = 1)), rep(1:2, each = 10))
  words <- matrix(letters[draws], nrow(draws))
  expect_equal(as.integer(partita(words, seed = 1)), rep(1:2, each = 10))
  skip_if_not_installed("coda")
  both <- cbind(draws, mu = rnorm(200))
  colnames(both) <- c(paste0("z[", 1:20, "]"), "mu")
  chains <- coda::mcmc.list(coda::mcmc(both[1:100, ]), coda::mcmc(both[101:200, ]))
  expect_equal(as.integer(partita(chains, variable = "z", seed = 1)), rep(1:2, each = 10))
})

test_that("bad input is one sentence of R", {
  expect_error(partita(1:3), "x must be a matrix of labels")
  expect_error(partita(matrix(c(1, 1.5, 2, 2), 2)), "labels are whole numbers")
  expect_error(partita(draws, method = "magic"), "method")
  expect_error(partita(list(draws, draws[, 1:3])), "same items")
})

test_that("a report counts from 1 and holds the title", {
  best <- partita(draws, seed = 1)
  page <- write_report(best, file.path(tempdir(), "page.html"), truth = rep(c("a", "b"), each = 10), title = "From R")
  html <- paste(readLines(page, warn = FALSE), collapse = "\n")
  expect_match(html, "<title>From R</title>", fixed = TRUE)
  expect_match(html, "\"first\":1", fixed = TRUE)
})

test_that("plots are drawn", {
  best <- partita(draws, seed = 1)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(best), best)
  expect_identical(plot(best, type = "clusters"), best)
})
