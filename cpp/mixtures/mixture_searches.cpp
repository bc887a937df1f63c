#include "mixtures/mixtures.hpp"

namespace partita::models {

template class MixtureMaximum<DiagonalGaussian>;
template class MixtureMaximum<FullGaussian>;
template class MixtureMaximum<Product>;

} // namespace partita::models
