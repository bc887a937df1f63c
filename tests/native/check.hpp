// A test is a function that CHECKs; failures are counted and printed.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdio>

inline std::atomic<int> failures = 0;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            ++failures;                                                                                      \
            std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                              \
        }                                                                                                    \
    } while (false)

inline bool near(double x, double y, double tolerance = 1e-9) {
    return std::abs(x - y) <= tolerance * (1 + std::abs(x) + std::abs(y));
}

void test_binding_limits();
void test_block_models();
void test_bounds();
void test_ensembles();
void test_losses();
void test_mixture_chains();
void test_mixtures();
void test_pairs();
void test_sample();
void test_search();
void test_selection();
void test_states();
