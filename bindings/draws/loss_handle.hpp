// A loss as Python holds it.
#pragma once

#include "draws/losses.hpp"

struct LossHandle {
    partita::Loss loss;
};
