# Draws in the forms that R users have: a matrix, a data frame, a list of matrices (chains), an mcmc or mcmc.list of coda.

as_draws <- function(x, variable = NULL) {
  chains <- if (is.list(x) && !is.data.frame(x)) unclass(x) else list(x)
  chains <- lapply(chains, one_chain, variable = variable)
  items <- vapply(chains, ncol, 1L)
  if (length(unique(items)) != 1) {
    stop("the chains in x have ", paste(items, collapse = ", "), " items; they must have the same items", call. = FALSE)
  }
  list(
    labels = do.call(rbind, chains),
    chain = rep(seq_along(chains) - 1L, vapply(chains, nrow, 1L)),
    names = colnames(chains[[1]])
  )
}

one_chain <- function(x, variable) {
  x <- if (is.data.frame(x)) as.matrix(x) else unclass(x)
  if (!is.matrix(x)) stop("x must be a matrix of labels with one row per draw and one column per item", call. = FALSE)
  if (!is.null(variable)) {
    chosen <- startsWith(colnames(x), paste0(variable, "["))
    if (!any(chosen)) stop("x has no columns ", variable, "[1], ", variable, "[2], ...", call. = FALSE)
    x <- x[, chosen, drop = FALSE]
  }
  if (is.numeric(x) && any(x != floor(x), na.rm = TRUE)) {
    stop("x has ", format(x[which(x != floor(x))[1]]), ", but labels are whole numbers", call. = FALSE)
  }
  if (is.numeric(x)) x else matrix(match(x, unique(c(x))), nrow(x), dimnames = dimnames(x))
}

sample_of <- function(x, variable = NULL) {
  draws <- as_draws(x, variable)
  names <- draws$names
  if (is.null(names) || anyDuplicated(names)) names <- as.character(seq_len(ncol(draws$labels)))
  missing <- if (anyNA(draws$labels)) -1L else NULL
  several <- length(unique(draws$chain)) > 1
  in_python(if (several) {
    parts <- lapply(split(seq_along(draws$chain), draws$chain), function(rows) {
      labels_to_python(draws$labels[rows, , drop = FALSE])
    })
    samples <- unname(parts)
    if (length(unique(lengths(split(draws$chain, draws$chain)))) == 1) {
      modules$partita$as_sample(modules$numpy$stack(samples), missing = missing, names = as.list(names))
    } else {
      modules$partita$as_sample(modules$numpy$concatenate(samples), missing = missing, names = as.list(names))
    }
  } else {
    modules$partita$as_sample(labels_to_python(draws$labels), missing = missing, names = as.list(names))
  })
}
