#include "search/run.hpp"

#include <algorithm>

namespace partita {

void renumber(std::vector<std::uint32_t>& labels) {
    if (labels.empty())
        return;
    std::vector<std::uint32_t> names(*std::max_element(labels.begin(), labels.end()) + std::size_t{1},
                                     State::nowhere);
    std::uint32_t next = 0;
    for (auto& label : labels) {
        if (names[label] == State::nowhere)
            names[label] = next++;
        label = names[label];
    }
}

std::vector<std::uint32_t> random_labels(std::size_t n_items, std::uint32_t groups, Rng& rng) {
    std::vector<std::uint32_t> labels(n_items);
    for (auto& label : labels)
        label = static_cast<std::uint32_t>(rng.below(groups));
    renumber(labels);
    return labels;
}

std::vector<Run> run_all(OneRun one, const Problem& problem, const SearchOptions& options,
                         const StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    std::vector<Run> runs(options.runs);
    parallel_for(options.runs, options.threads, [&](std::size_t run, unsigned) {
        if (run > 0 && limits.reached())
            return;
        const auto begin = Limits::Clock::now();
        Rng rng(options.seed, run);
        runs[run] = one(problem, options, rng, limits);
        runs[run].seconds = std::chrono::duration<double>(Limits::Clock::now() - begin).count();
        if (progress)
            progress(runs[run]);
    });
    std::erase_if(runs, [](const Run& run) { return run.labels.empty(); });
    return runs;
}

} // namespace partita
