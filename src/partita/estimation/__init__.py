"""From draws or pair probabilities to one partition: `estimate` and its results."""
