// The core's own tests, for the sanitizers: every part is run, with gaps and without, on each label type.
#include <initializer_list>

#include "check.hpp"

int main() {
    constexpr int parts = 4;
    int failed = 0;
    for (auto* test : {test_bounds, test_losses, test_sample, test_search}) {
        const int before = failures;
        test();
        failed += failures > before;
    }
    std::printf("%d passed, %d failed\n", parts - failed, failed);
    return failed ? 1 : 0;
}
