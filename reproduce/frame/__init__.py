"""What the papers' scripts share: rows beside the paper's numbers, and where tables, figures and pages go.

    options = frame.options(__doc__)                    # --quick, --smoke, --data, --draws, --out, --keep
    page = frame.Page("wade_ghahramani", "Wade & Ghahramani (2018)", options)
    page.section("Table 1", "What was done.", differs="The paper's data are not public; ours are drawn anew.")
    page.row("estimate from VI", ours=0.77, error=0.01, paper=0.77, column="E[VI]")
    page.figure(axes.figure, "figure-7", "The three estimates.")
    page.write()

A full run writes reproduce/results/NAME.csv, docs/reproduce/NAME.md and docs/reproduce/NAME/*.png. A quick run, and one
with --out, write the same files into a folder of their own (build/reproduce), never over those of a full run.
"""

from frame.growing import append_runs, read_runs
from frame.markdown import table
from frame.options import Options, kept, options
from frame.page import Page
from frame.progress import Progress
from frame.rows import Row, differ, mean_and_error

__all__ = [
    "Options",
    "Page",
    "Progress",
    "Row",
    "append_runs",
    "differ",
    "kept",
    "mean_and_error",
    "options",
    "read_runs",
    "table",
]
