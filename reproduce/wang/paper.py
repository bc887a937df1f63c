"""The numbers that the paper prints."""

from __future__ import annotations

from wang.data import FILES

_SETS = tuple(FILES)


def _by_set(*columns: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    return dict(zip(_SETS, zip(*columns, strict=True), strict=False))


#: Table 2, in the order of F1_METHODS.
F1_METHODS = ("base max", "base avg", "CSPA", "HGPA", "MCLA", "NBCE")
F1 = {
    "Glass": (0.57, 0.51, 0.66, 0.59, 0.61, 0.69),
    "Ecoli": (0.61, 0.56, 0.67, 0.65, 0.68, 0.72),
    "ImageSegmentation": (0.52, 0.42, 0.53, 0.44, 0.59, 0.65),
    "ISOLET": (0.53, 0.41, 0.59, 0.50, 0.65, 0.66),
    "LetterRecognition": (0.48, 0.40, 0.49, 0.50, 0.53, 0.62),
    "Tracedata": (0.49, 0.44, 0.51, 0.62, 0.61, 0.66),
    "ControlChart": (0.62, 0.56, 0.73, 0.70, 0.67, 0.77),
}
#: Table 3: 5, 10, 15 and 20 % of the labels changed.
NOISE = (0.05, 0.10, 0.15, 0.20)
SYNTHETIC = {
    "MM": (10.04, 13.27, 17.36, 21.20),
    "BCE": (7.92, 9.76, 14.22, 18.98),
    "NBCE": (5.63, 8.31, 11.16, 15.87),
}
#: Tables 4 and 5: MM, BCE, NBCE.
PERPLEXITY = {
    "train": _by_set(
        (1.02, 1.33, 1.40, 1.63, 2.21, 2.97, 4.34),
        (0.99, 1.10, 1.23, 1.34, 1.98, 2.53, 4.01),
        (0.77, 0.92, 1.03, 1.24, 1.76, 2.38, 3.63),
    ),
    "test": _by_set(
        (1.15, 1.51, 1.49, 1.72, 2.51, 3.22, 5.56),
        (1.07, 1.39, 1.37, 1.60, 2.33, 2.94, 4.88),
        (0.98, 1.18, 1.16, 1.47, 1.96, 2.62, 4.58),
    ),
}
#: Table 6: per cent of outliers, TSB and FSD.
OUTLIERS = _by_set((3.2, 4.3, 3.2, 2.9, 3.3), (5.4, 5.1, 3.5, 3.1, 3.6))
#: Table 7: Gibbs, CVB, VB.
INFERENCE = _by_set((0.77, 0.92, 1.03, 1.24, 1.76), (0.85, 0.96, 1.06, 1.28, 1.80), (0.91, 1.02, 1.11, 1.30, 1.88))
