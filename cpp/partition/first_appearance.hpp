// Names in order of first appearance: the rule of canonical labels, for keys from a small range. Labels of
// any size, with gaps, are canonical.hpp's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace partita::common {

/// Names the keys 0 .. n_keys - 1 by 0, 1, 2, ... as they are first asked for.
class FirstAppearance {
public:
    explicit FirstAppearance(std::size_t n_keys) : names_(n_keys, unnamed) {}

    std::uint32_t operator()(std::size_t key) {
        auto& name = names_[key];
        if (name == unnamed)
            name = n_names_++;
        return name;
    }
    std::uint32_t n_names() const { return n_names_; }

private:
    static constexpr std::uint32_t unnamed = std::numeric_limits<std::uint32_t>::max();

    std::vector<std::uint32_t> names_;
    std::uint32_t n_names_ = 0;
};

/// Renumbers labels to 0, 1, ... in order of first appearance; returns how many there are.
inline std::uint32_t renumber(std::vector<std::uint32_t>& labels) {
    if (labels.empty())
        return 0;
    FirstAppearance name(*std::max_element(labels.begin(), labels.end()) + std::size_t{1});
    for (auto& label : labels)
        label = name(label);
    return name.n_names();
}

} // namespace partita::common
