#' The partition with the lowest expected loss
#'
#' @param x draws: a matrix with one row per draw and one column per item, a data frame, a list of such matrices (chains), or an
#'   mcmc or mcmc.list of coda
#' @param loss VI(), binder(), NVI(), ID(), NID() or omARI(), or the name of one
#' @param maxNClusters maximum number of clusters; 0: the largest number in any draw; Inf: no limit
#' @param nRuns number of runs of the search; 0: as many as the search finds useful
#' @param nCores number of threads; 0: all cores
#' @param variable name of the variable that holds the labels, for draws of several variables as JAGS and NIMBLE write them
#' @param method "search", "salso", "greedy", "draws", "exact", ...
#' @param seed random seed; by default taken from R's own generator, so that set.seed() makes the answer reproducible
#' @return an integer vector with the cluster of each item, from 1, of class partita.estimate
partita <- function(x, loss = VI(), maxNClusters = 0, nRuns = 0, nCores = 0, variable = NULL, method = "search",
                    seed = NULL) {
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1)
  draws <- sample_of(x, variable)
  search <- in_python(modules$partita$Search(
    runs = if (nRuns > 0) as.integer(nRuns) else NULL,
    max_clusters = if (is.infinite(maxNClusters)) Inf else if (maxNClusters > 0) as.integer(maxNClusters) else NULL,
    n_jobs = if (nCores > 0) as.integer(nCores) else -1L
  ))
  loss <- as_loss(loss)
  found <- in_python(modules$partita$estimate(
    draws,
    loss = loss_to_python(loss), method = method, search = search, rng = as.integer(seed)
  ))
  estimate_to_r(found, loss, seed)
}

estimate_to_r <- function(found, loss, seed) {
  sample <- found$sample
  structure(
    labels_to_r(found$labels),
    names = as.character(unlist(from_python(sample$names))),
    class = "partita.estimate",
    loss = loss,
    seed = seed,
    expectedLoss = from_python(found$expected_loss),
    nDraws = from_python(sample$n_draws),
    notes = as.character(unlist(from_python(found$notes))),
    python = found
  )
}

print.partita.estimate <- function(x, ...) {
  for (sentence in attr(x, "notes")) cat("Note:", sentence, "\n")
  sizes <- table(as.integer(x))
  cat(sprintf("%d items in %d clusters of %s items\n", length(x), length(sizes), paste(sizes, collapse = ", ")))
  cat(sprintf("expected %s: %.4f over %d draws\n", attr(x, "loss")$name, attr(x, "expectedLoss"), attr(x, "nDraws")))
  labels <- as.integer(x)
  names(labels) <- names(x)
  print(labels)
  invisible(x)
}

# The result of Python behind an estimate; it does not survive saveRDS.
python_of <- function(estimate) {
  found <- attr(estimate, "python")
  if (is.null(found) || reticulate::py_is_null_xptr(found)) {
    stop("this estimate was saved or copied without its draws; compute it again with partita()", call. = FALSE)
  }
  found
}

summary.partita.estimate <- function(object, ...) {
  found <- python_of(object)
  items <- in_python(modules$partita$item_certainty(found))
  stability <- in_python(modules$partita$cluster_stability(found))
  numbers <- function(array) as.numeric(unlist(from_python(array$tolist())))
  clusters <- data.frame(
    cluster = seq_along(numbers(stability$size)),
    size = numbers(stability$size),
    certainty = numbers(stability$cohesion),
    exemplar = names(object)[numbers(stability$exemplar) + 1]
  )
  of_items <- data.frame(
    item = names(object), cluster = as.integer(object), certainty = numbers(items$probability)
  )
  structure(list(estimate = object, clusters = clusters, items = of_items), class = "summary.partita.estimate")
}

print.summary.partita.estimate <- function(x, ...) {
  cat(sprintf("%d clusters of %d items\n\n", nrow(x$clusters), nrow(x$items)))
  print(x$clusters, digits = 3, row.names = FALSE)
  cat("\nItems to look at first:\n")
  print(utils::head(x$items[order(x$items$certainty), ], 6), digits = 3, row.names = FALSE)
  invisible(x)
}

plot.partita.estimate <- function(x, type = c("heatmap", "clusters"), ...) {
  type <- match.arg(type)
  if (type == "clusters") {
    counts <- from_python(modules$partita$n_clusters_posterior(python_of(x)$sample))
    graphics::barplot(unlist(counts), xlab = "number of clusters", ylab = "posterior probability", ...)
    return(invisible(x))
  }
  certainty <- summary(x)$items$certainty
  order <- order(as.integer(x), -certainty)
  similar <- psm(x)[order, rev(order)]
  colours <- grDevices::hcl.colors(64, "Blues", rev = TRUE)
  graphics::image(similar, zlim = c(0, 1), col = colours, axes = FALSE, asp = 1,
                  main = "Probability of being together, items ordered by cluster", ...)
  graphics::box()
  invisible(x)
}
