// The core's own tests, for the sanitizers: every part is run, with gaps and without, on each label type.
#include <chrono>
#include <initializer_list>

#include "check.hpp"

namespace {

struct Part {
    const char* name;
    void (*run)();
};

/// Runs a part, says how long it took, and whether it passed.
bool passes(const Part& part) {
    const int before = failures;
    const auto start = std::chrono::steady_clock::now();
    part.run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%-16s %6.1f s\n", part.name, seconds.count());
    std::fflush(stdout);
    return failures == before;
}

} // namespace

int main() {
    const std::initializer_list<Part> parts = {{"binding limits", test_binding_limits},
                                               {"block models", test_block_models},
                                               {"bounds", test_bounds},
                                               {"ensembles", test_ensembles},
                                               {"losses", test_losses},
                                               {"mixture chains", test_mixture_chains},
                                               {"mixtures", test_mixtures},
                                               {"pairs", test_pairs},
                                               {"sample", test_sample},
                                               {"search", test_search},
                                               {"selection", test_selection},
                                               {"states", test_states}};
    int failed = 0;
    for (const auto& part : parts)
        failed += !passes(part);
    std::printf("%d passed, %d failed\n", static_cast<int>(parts.size()) - failed, failed);
    return failed ? 1 : 0;
}
