"""How far two numbers may differ and still be called equal, in one place.

A comparison allows for rounding with one of these, multiplied by the size of the numbers or by `loss.unit` where they
are not around 1. Tolerances with a derivation of their own stay beside it: `search/laugreen`, `search/components`,
`search/clique_lp`, and `cpp/partition/rounding.hpp`.
"""

#: Losses, distances, probabilities and weights that differ by less are equal.
TIE = 1e-9
#: Sums of the same terms in another order differ by less; a step of a search must gain more, so that the search ends.
ROUNDING = 1e-12
#: What is taken off a lower bound, so that no rounding error makes it false.
BOUND_MARGIN = 1e-9
#: How far a probability in a matrix of 32-bit floats may be outside 0 to 1, and two entries of one pair apart.
SINGLE_PRECISION = 1e-5
#: The least probability or count of which a logarithm is taken or by which is divided.
FLOOR = 1e-300
