# The examples of the help pages and the code of the vignette run; R CMD check runs this file, and `make r-test`.
library(partita)

if (partita_available()) {
  pages <- tools::Rd_db("partita")
  stopifnot(length(pages) > 0)
  for (page in pages) {
    script <- tempfile(fileext = ".R")
    tools::Rd2ex(page, script)
    stopifnot(file.exists(script)) # every help page has an example
    source(script, local = new.env(), chdir = TRUE)
  }
  vignette <- file.path("..", "vignettes", "partita.Rmd")
  if (file.exists(vignette) && requireNamespace("knitr", quietly = TRUE)) {
    script <- knitr::purl(vignette, tempfile(fileext = ".R"), quiet = TRUE)
    setwd(tempdir()) # it writes a report
    source(script, local = new.env())
  }
}
