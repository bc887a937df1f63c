#' Posterior similarity matrix of draws, or of the draws of an estimate
psm <- function(x, ...) {
  draws <- if (inherits(x, "partita.estimate")) python_of(x)$sample else sample_of(x, ...)
  found <- in_python(modules$partita$similarity(draws))
  n <- from_python(draws$n_items)
  matrix(as.numeric(from_python(found$ravel()$tolist())), n, n)
}

#' Loss of an estimate with respect to a truth, as in 'salso'
partition.loss <- function(truth, estimate, loss = VI()) {
  of <- function(labels) labels_to_python(match(as.character(labels), unique(as.character(labels))))
  from_python(in_python(modules$partita$partition_loss(of(truth), of(estimate), loss_to_python(loss))))
}

#' Credible ball around an estimate
credible_ball <- function(estimate, level = 0.95) {
  found <- in_python(modules$partita$credible_ball(python_of(estimate), level = level))
  bound <- function(kind) lapply(reticulate::iterate(found[[kind]]), labels_to_r)
  structure(
    list(
      level = level, radius = from_python(found$radius), mass = from_python(found$mass),
      n_inside = from_python(found$n_inside), upper = bound("upper"), lower = bound("lower"),
      horizontal = bound("horizontal"), python = found
    ),
    class = "partita.ball"
  )
}

print.partita.ball <- function(x, ...) {
  clusters <- function(bounds) max(bounds[[1]])
  cat(sprintf("%g%% credible ball of radius %.4f with %d distinct partitions\n", 100 * x$level, x$radius, x$n_inside))
  cat(sprintf("bounds: upper %d clusters, lower %d clusters, horizontal %d clusters\n",
              clusters(x$upper), clusters(x$lower), clusters(x$horizontal)))
  invisible(x)
}

#' The items whose cluster is least certain, by name
items_to_check <- function(estimate, count = 10) {
  found <- in_python(modules$partita$items_to_check(python_of(estimate), count = as.integer(count)))
  names(estimate)[as.integer(unlist(from_python(found$tolist()))) + 1]
}

#' The items that the draws cluster in the same way with a given joint probability; NA for the others
partial_clustering <- function(x, probability = 0.9, seed = NULL, ...) {
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1)
  draws <- if (inherits(x, "partita.estimate")) python_of(x)$sample else sample_of(x, ...)
  found <- in_python(modules$partita$partial_clustering(draws, probability, rng = as.integer(seed)))
  labels_to_r(found$labels)
}

#' One self-contained HTML page about an estimate
write_report <- function(estimate, file = "report.html", ball = credible_ball(estimate), data = NULL, truth = NULL,
                         title = "Cluster analysis") {
  if (!is.null(data)) {
    data <- as.matrix(data)
    columns <- colnames(data)
    rows <- lapply(seq_len(nrow(data)), function(i) as.list(unname(data[i, ])))
    data <- modules$numpy$array(rows, dtype = "float64")
    if (!is.null(columns)) data <- modules$pandas$DataFrame(data, columns = as.list(columns))
  }
  if (!is.null(truth)) truth <- modules$numpy$array(as.list(as.character(truth)))
  path <- in_python(modules$partita$report(
    python_of(estimate), ball$python,
    data = data, truth = truth, path = path.expand(file), title = title
  ))
  invisible(as.character(path))
}
