"""The list of every table and figure of the five papers, and what became of each: docs/reproduce/overview.md.

    python reproduce/overview.py

It reads the results and pages that the papers' scripts wrote, and fails if an exhibit is neither shown nor explained.
"""

from __future__ import annotations

import argparse
import sys

from frame.options import ROOT
from frame.overview import Exhibit, Paper, write_overview

DIAGRAM = "A diagram of the model, or notation."

DAHL = Paper(
    "Dahl, Johnson & Müller (2022)",
    "dahl_johnson_mueller",
    (
        Exhibit("Table 1", reason=DIAGRAM, computed=False),
        Exhibit("Table 2", ("Table 2:",)),
        Exhibit("Table 3", ("Table 3:",)),
        Exhibit("Table 4", ("Table 4:",)),
    ),
)
RASTELLI = Paper(
    "Rastelli & Friel (2018)",
    "rastelli_friel",
    (
        Exhibit("Table 1", ("Example 1, Table 1",)),
        Exhibit("Table 2", ("Example 1, Table 2",)),
        Exhibit("Tables 3 and 4", ("French blogs: Tables 3 and 4",)),
        Exhibit("Table 5", ("Congress votes: Table 5",)),
        Exhibit("Figure 1", figure="figure-01", reason="CPU seconds of our programs."),
        Exhibit("Figure 2", figure="figure-02"),
        Exhibit("Figure 3", ("Example 2, Figure 3",), "figure-03"),
        Exhibit("Figure 4", ("Example 2, Figure 4",), "figure-04"),
        Exhibit("Figure 5", ("Old Faithful",), "figure-05"),
        *(Exhibit(f"Figure {n}", figure=f"figure-{n:02}") for n in range(6, 11)),
    ),
)
WADE = Paper(
    "Wade & Ghahramani (2018)",
    "wade_ghahramani",
    (
        Exhibit("Table 1", ("Example 1: Table 1", "Example 1: credible balls")),
        Exhibit("Table 2", ("Example 2: Table 2", "Example 2: credible balls")),
        Exhibit("Table 3", ("Galaxy data: Table 3",)),
        *(Exhibit(f"Figure {n}", figure=f"figure-{n:02}") for n in range(1, 20)),
    ),
)
COME = Paper(
    "Côme & Latouche (2015)",
    "come_latouche",
    (
        Exhibit("Figure 1", ("Setting 1",), "setting-1"),
        Exhibit("Figure 2", ("Setting 2", "Setting 3"), "setting-2"),
        Exhibit("Figure 3", ("Setting 4",)),
        *(
            Exhibit(
                f"Figure {n}",
                reason="The network of 1,360 blogs on illustration and comics is not public; the page has two other "
                "directed networks.",
            )
            for n in (4, 5)
        ),
    ),
)
WANG = Paper(
    "Wang, Domeniconi & Laskey (2010)",
    "wang_domeniconi_laskey",
    (
        Exhibit("Table 1", reason=DIAGRAM, computed=False),
        *(Exhibit(f"Table {n}", (f"Table {n}:",)) for n in range(2, 8)),
        Exhibit("Figure 1", reason=DIAGRAM, computed=False),
        Exhibit("Figure 2", reason=DIAGRAM, computed=False),
        Exhibit(
            "Figure 3",
            reason="A plot of points whose coordinates are not printed; the clusterings of Table 3 need only their "
            "labels.",
        ),
    ),
)
PAPERS = (DAHL, RASTELLI, WADE, COME, WANG)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    gaps = write_overview(PAPERS, ROOT / "reproduce" / "results", ROOT / "docs" / "reproduce")
    print("wrote docs/reproduce/overview.md")
    if gaps:
        sys.exit("missing:\n" + "\n".join(gaps))


if __name__ == "__main__":
    main()
