#include "partition/runner.hpp"

#include "partition/labels.hpp"
#include "partition/meet.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace partita::search {

std::vector<std::vector<Run>> Runner::run(const std::vector<std::vector<Task>>& tasks) const {
    std::size_t longest = 0;
    for (const auto& own : tasks)
        longest = std::max(longest, own.size());
    std::vector<std::pair<std::size_t, std::size_t>>
        order; // in turn, so that each level has its share of the time
    for (std::size_t task = 0; task < longest; ++task)
        for (std::size_t level = 0; level < tasks.size(); ++level)
            if (task < tasks[level].size())
                order.emplace_back(level, task);
    auto done = run_stage(order.size(), options_, limits_, progress_,
                          [&](std::size_t n) { return tasks[order[n].first][order[n].second](); });
    std::vector<std::vector<Run>> runs(tasks.size());
    for (std::size_t n = 0; n < done.size(); ++n)
        if (!done[n].labels.empty())
            runs[order[n].first].push_back(std::move(done[n]));
    return runs;
}

std::vector<const Run*> distinct_best_first(const std::vector<Run>& runs) {
    std::vector<const Run*> order, distinct;
    for (const auto& run : runs)
        order.push_back(&run);
    std::stable_sort(order.begin(), order.end(), [](auto* x, auto* y) { return x->loss < y->loss; });
    for (const auto* run : order)
        if (std::none_of(distinct.begin(), distinct.end(), [&](auto* d) { return d->labels == run->labels; }))
            distinct.push_back(run);
    return distinct;
}

std::size_t count_at(double loss, double rounding, const std::vector<Run>& runs) {
    return static_cast<std::size_t>(
        std::count_if(runs.begin(), runs.end(), [&](const Run& run) { return run.loss <= loss + rounding; }));
}

std::vector<Run> best_of(const std::vector<Run>& runs, std::size_t most) {
    std::vector<Run> best;
    for (const auto* run : distinct_best_first(runs))
        if (best.size() < most)
            best.push_back(*run);
    return best;
}

bool join(std::vector<Run>& runs, std::vector<Run> children) {
    const auto& best = *distinct_best_first(runs).front();
    const auto loss = best.loss, rounding = best.rounding;
    const bool better = std::any_of(children.begin(), children.end(),
                                    [&](const Run& child) { return child.loss < loss - rounding; });
    std::move(children.begin(), children.end(), std::back_inserter(runs));
    return better;
}

std::vector<std::uint32_t> common_blocks(const Run& x, const Run& y) {
    return keep_largest(meet(x.labels, y.labels), std::size_t{2} * std::max(x.clusters, y.clusters),
                        no_cluster);
}

} // namespace partita::search
