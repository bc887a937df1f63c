# The Python package, and what crosses the border: only bytes, lists, numbers and strings do, so that any version of
# reticulate works with any version of NumPy.

modules <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  modules$partita <- reticulate::import("partita", convert = FALSE, delay_load = TRUE)
  modules$numpy <- reticulate::import("numpy", convert = FALSE, delay_load = TRUE)
  modules$pandas <- reticulate::import("pandas", convert = FALSE, delay_load = TRUE)
}

#' Whether the Python package partita can be imported
partita_available <- function() {
  reticulate::py_module_available("partita")
}

from_python <- function(value) reticulate::py_to_r(value)

# Evaluates an expression that calls Python; an error of Python becomes one of R, with the same sentence.
in_python <- function(expression) {
  tryCatch(expression, error = function(condition) {
    lines <- strsplit(conditionMessage(condition), "\n", fixed = TRUE)[[1]]
    stop(sub("^[A-Za-z.]*(Error|Exception): ", "", lines[1]), call. = FALSE)
  })
}

# A matrix of labels, one row per draw, as an array of NumPy; NA becomes -1.
labels_to_python <- function(x) {
  codes <- as.integer(x)
  codes[is.na(codes)] <- -1L
  flat <- modules$numpy$frombuffer(writeBin(codes, raw(), endian = "little"), dtype = "<i4")
  if (is.matrix(x)) flat$reshape(rev(as.list(dim(x))))$T else flat
}

# Labels of Python, from 0, as labels of R, from 1; -1, no label, becomes NA.
labels_to_r <- function(array) {
  labels <- as.integer(from_python(array$tolist()))
  ifelse(labels < 0L, NA_integer_, labels + 1L)
}
