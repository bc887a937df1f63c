#' Losses of partitions
#'
#' a is the cost of splitting what belongs together, and b that of joining what does not. Both are 1 by default. Another a
#' needs b, too: for salso it is 2 - a, for the Python package 1.
VI <- function(a = 1, b = NULL) new_loss("VI", "VI", a, weight_b("VI", a, b))

binder <- function(a = 1, b = NULL) new_loss("binder", "Binder", a, weight_b("binder", a, b))

weight_b <- function(name, a, b) {
  if (!is.null(b)) return(b)
  if (length(a) == 1 && isTRUE(a == 1)) return(1)
  stop(sprintf("%s(a = %s) needs both weights: salso sets b to 2 - a, as in %s(a = 0.5, b = 1.5), the Python package to 1",
               name, paste(a, collapse = ", "), name), call. = FALSE)
}

NVI <- function() new_loss("NVI", "NVI")

ID <- function() new_loss("ID", "ID")

NID <- function() new_loss("NID", "NID")

omARI <- function() new_loss("omARI", "OneMinusARI")

new_loss <- function(name, python, a = NULL, b = NULL) {
  structure(list(name = name, python = python, a = a, b = b), class = "partita.loss")
}

print.partita.loss <- function(x, ...) {
  weights <- if (is.null(x$a)) "" else sprintf("a = %g, b = %g", x$a, x$b)
  cat(sprintf("%s(%s)\n", x$name, weights))
  invisible(x)
}

as_loss <- function(loss) {
  if (inherits(loss, "partita.loss")) return(loss)
  known <- list(VI = VI, binder = binder, NVI = NVI, ID = ID, NID = NID, omARI = omARI)
  if (is.function(loss)) return(loss())
  found <- if (is.character(loss) && length(loss) == 1) match(tolower(loss), tolower(names(known))) else NA
  if (is.na(found)) stop("loss must be one of ", paste0(names(known), "()", collapse = ", "), call. = FALSE)
  known[[found]]()
}

loss_to_python <- function(loss) {
  loss <- as_loss(loss)
  make <- modules$partita[[loss$python]]
  in_python(if (is.null(loss$a)) make() else make(a = loss$a, b = loss$b))
}
