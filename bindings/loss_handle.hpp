// A loss as Python holds it.
#pragma once

#include "losses.hpp"

struct LossHandle {
    partita::Loss loss;
};
