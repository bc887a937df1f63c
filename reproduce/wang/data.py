"""The seven data sets of the paper's Section 6, and its synthetic clusterings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# file, column of the classes, columns that are no features
FILES = {
    "Glass": ("glass.csv", "type", []),
    "Ecoli": ("ecoli.csv", "site", ["sequence_name"]),
    "ImageSegmentation": ("image_segmentation.csv.gz", "class", ["set"]),
    "ISOLET": ("isolet_abcdeg.csv.gz", "letter", ["part"]),
    "LetterRecognition": ("letter_a_to_j.csv.gz", "letter", []),
    "Tracedata": ("trace.csv.gz", "class", ["set"]),
    "ControlChart": ("control_chart.csv.gz", "class", []),
}
UCI = tuple(FILES)[:5]  # the sets of Tables 6 and 7
LETTERS_OF_A_KIND = 70  # the paper has "700 samples of the letters A to J"

CLUSTER, OUTLIERS, CLUSTERINGS = 100, 10, 10  # of the synthetic data; the paper prints no sizes


def load(name: str, folder: Path) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Features and classes, all rows, as distributed: the paper tells of no scaling."""
    file, target, dropped = FILES[name]
    frame = pd.read_csv(folder / file)
    if name == "LetterRecognition":
        frame = frame.groupby("letter").head(LETTERS_OF_A_KIND)
    return frame.drop(columns=[target, *dropped]).to_numpy(float), pd.factorize(frame[target])[0]


def synthetic_truth() -> NDArray[np.intp]:
    """Two clusters, and outliers with a label each."""
    return np.concatenate([np.repeat([0, 1], CLUSTER), 2 + np.arange(OUTLIERS)])


def synthetic(noise: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Base clusterings that are the truth, but for a share of the labels that was changed at random."""
    truth = synthetic_truth()
    base, n_labels = np.tile(truth[:, None], (1, CLUSTERINGS)), int(truth.max()) + 1
    for column in base.T:
        changed = rng.choice(len(truth), round(noise * len(truth)), replace=False)
        column[changed] = (column[changed] + rng.integers(1, n_labels, len(changed))) % n_labels
    return base
