#include "mixtures/mixtures.hpp"

namespace partita::models {

template class MixtureSampler<DiagonalGaussian>;
template class MixtureSampler<FullGaussian>;
template class MixtureSampler<Product>;

} // namespace partita::models
