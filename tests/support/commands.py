"""What the tests of the partita command share: its commands, and what an error looks like."""

GROUPS = ("sample",)
COMMANDS = (
    "estimate",
    "ball",
    "similarity",
    "compare",
    "compare-posteriors",
    "partial",
    "sample dpm",
    "blockmodel",
    "ensemble",
    "report",
    "convert",
    "demo",
)


def one_sentence(stderr):
    """The only line of an error, which is no traceback."""
    assert "Traceback" not in stderr
    lines = stderr.strip().splitlines()
    assert len(lines) == 1, stderr
    return lines[0]
