#include "partition/run.hpp"

#include <algorithm>

namespace partita::search {

std::vector<std::uint32_t> random_labels(std::size_t n_items, std::uint32_t groups, common::Rng& rng) {
    std::vector<std::uint32_t> labels(n_items);
    for (auto& label : labels)
        label = static_cast<std::uint32_t>(rng.below(groups));
    renumber(labels);
    return labels;
}

std::vector<Run> run_stage(std::size_t n_runs, const SearchOptions& options, const Limits& limits,
                           const Progress& progress, const std::function<Run(std::size_t)>& one) {
    auto timed = [&](std::size_t index) {
        const auto begun = Limits::Clock::now();
        auto run = one(index);
        run.seconds += std::chrono::duration<double>(Limits::Clock::now() - begun).count();
        return run;
    };
    std::vector<Run> runs(n_runs);
    if (options.executor) {
        runs = options.executor({n_runs, timed, [&] { return limits.reached(); }});
        for (const auto& run : runs)
            if (progress && !run.labels.empty())
                progress(run);
    } else {
        common::parallel_for(n_runs, options.threads, limits.stop(), [&](std::size_t index, unsigned) {
            if (index > 0 && limits.reached())
                return;
            runs[index] = timed(index);
            if (progress)
                progress(runs[index]);
        });
    }
    return runs;
}

std::vector<Run> run_all(const OneRun& one, const SearchOptions& options, const common::StopFlag& stop,
                         const Progress& progress) {
    const Limits limits(stop, options.seconds);
    auto runs = run_stage(options.runs, options, limits, progress, [&](std::size_t run) {
        common::Rng rng(options.seed, run);
        return one(options, rng, limits);
    });
    std::erase_if(runs, [](const Run& run) { return run.labels.empty(); });
    return runs;
}

} // namespace partita::search
