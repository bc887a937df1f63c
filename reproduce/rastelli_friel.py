"""Rastelli & Friel (2018), Sections 6 and 7: Tables 1 to 5 and Figures 1 to 10, ours beside the paper's.

    python reproduce/rastelli_friel.py [--quick] [--data ../shared/data] [--keep FOLDER] [--parts blogs votes]

Examples 1 and 2 go on where they stopped (runs/rastelli-example1.csv.gz and -example2.csv.gz). With --keep, the draws
of the three real data sets are kept and used the next time. With --parts, the other parts of the page stay as they are.
"""

from __future__ import annotations

import argparse

import frame
from rastelli import blogs, example1, example2, faithful, updates, votes
from rastelli.greedy import Length
from rastelli.simulated import PAPERS, Plan

EXAMPLE_1 = {
    "full": example1.Size(4, PAPERS),
    "quick": example1.Size(2, Plan(500, 2_000, 4), (40, 120, 200)),
    "smoke": example1.Size(1, Plan(100, 500, 1), (40, 80)),
}
EXAMPLE_2 = {
    "full": example2.Size(50, PAPERS),
    "quick": example2.Size(3, Plan(400, 2_000, 4)),
    "smoke": example2.Size(1, Plan(100, 500, 1)),
}
FAITHFUL = {
    "full": Length(4_000_000, 100, 40_000, 100),  # each chain as long as the paper's
    "quick": Length(8_000, 4, 2_000, 20),
    "smoke": Length(400, 1, 200, 4),
}
NETWORKS = {
    "full": Length(1_000_000, 100, 10_000, 100, chains=1),
    "quick": Length(8_000, 4, 1_000, 10),
    "smoke": Length(400, 1, 200, 2),
}

SPREAD = {  # chains whose modes are compared
    "full": Length(400_000, 100, 4_000, 100, chains=8),
    "quick": Length(8_000, 4, 1_000, 10),
    "smoke": Length(400, 1, 200, 2),
}
UPDATES = {  # chains, starts of the variational method, single moves of a chain
    "full": (8, 40, updates.UPDATES),
    "quick": (2, 2, 100_000),
    "smoke": (2, 1, 10_000),
}
PARTS = {  # and how the titles of their sections begin
    "example1": "Example 1",
    "example2": "Example 2",
    "faithful": "Old Faithful",
    "blogs": "French blogs",
    "updates": "Blogs: updates",
    "votes": "Congress votes",
}


def main() -> None:
    options = frame.options(__doc__, own_arguments)
    page = frame.Page("rastelli_friel", "Rastelli & Friel (2018): greedy minimisation of expected losses", options)
    for part, title in PARTS.items():
        if part in options.own.parts:
            run(page, part, options.size)
        else:
            page.as_before(title)
    page.write()


def own_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))


def run(page: frame.Page, part: str, size: str) -> None:
    if part == "example1":
        example1.run(page, EXAMPLE_1[size])
    elif part == "example2":
        example2.run(page, EXAMPLE_2[size])
    elif part == "faithful" and page.has_data("Old Faithful", faithful.FILE):
        faithful.run(page, FAITHFUL[size])
    elif part == "blogs" and page.has_data("French blogs: Tables 3 and 4", *blogs.FILES):
        blogs.run(page, NETWORKS[size], SPREAD[size])
    elif part == "updates" and page.has_data("Blogs: updates as single moves", *updates.FILES):
        updates.run(page, *UPDATES[size])
    elif part == "votes" and page.has_data("Congress votes: Table 5", votes.FILE):
        votes.run(page, NETWORKS[size])


if __name__ == "__main__":
    main()
