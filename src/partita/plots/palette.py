"""Colours and markers of clusters: seven colours after Okabe & Ito, repeated with further markers."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5B5B5B")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
HIGHLIGHT = COLORS[1]
QUIET = "#B8BEC6"
SEQUENTIAL = "Blues"


def cluster_color(k: int) -> str:
    """The colour of cluster k; -1, an item without a cluster, is grey.

    >>> cluster_color(0) == cluster_color(7), cluster_marker(0) == cluster_marker(7)
    (True, False)
    """
    return QUIET if k < 0 else COLORS[k % len(COLORS)]


def cluster_marker(k: int) -> str:
    """The marker of cluster k; with the colour it is unique for the first 56 clusters.

    >>> len({(cluster_color(k), cluster_marker(k)) for k in range(56)})
    56
    """
    return "x" if k < 0 else MARKERS[k // len(COLORS) % len(MARKERS)]
