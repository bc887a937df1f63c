// The samplers and searches of mixtures, one per family, compiled once in the core: in every other file
// each would take seconds.
#pragma once

#include "mcmc/mixture_sampler.hpp"
#include "mixtures/families/diagonal_gaussian.hpp"
#include "mixtures/families/full_gaussian.hpp"
#include "mixtures/families/product.hpp"
#include "mixtures/mixture_search.hpp"

namespace partita::models {

extern template class MixtureSampler<DiagonalGaussian>;
extern template class MixtureSampler<FullGaussian>;
extern template class MixtureSampler<Product>;
extern template class MixtureMaximum<DiagonalGaussian>;
extern template class MixtureMaximum<FullGaussian>;
extern template class MixtureMaximum<Product>;

} // namespace partita::models
