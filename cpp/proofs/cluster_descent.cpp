#include "proofs/cluster_descent.hpp"

#include <limits>

namespace partita::proofs {
namespace {

constexpr double improving = -1e-9; // strict, so that the descent ends

struct Flip {
    double change = std::numeric_limits<double>::infinity();
    std::uint32_t item = 0;
    bool improves() const { return change < improving; }
    bool exists() const { return change < std::numeric_limits<double>::infinity(); }
};

class Descent {
public:
    Descent(const ClusterCosts& costs, std::span<const double> duals, const Family& family)
        : costs_(costs), duals_(duals), family_(family), set_(costs, family.in) {}

    FoundCluster run(const Items& start) {
        std::vector<char> wanted(costs_.n_items(), 0);
        for (const auto item : start)
            wanted[item] = 1;
        for (const auto item : family_.open)
            if (wanted[item])
                set_.insert(item);
        while (step()) {
        }
        FoundCluster found{set_.items(), set_.cost()};
        for (const auto item : found.items)
            found.reduced -= duals_[item];
        return found;
    }

private:
    double change(std::uint32_t item) const {
        return set_.gain(item) + (set_.holds(item) ? duals_[item] : -duals_[item]);
    }

    Flip best(bool held) const {
        Flip found;
        for (const auto item : family_.open)
            if (set_.holds(item) == held)
                if (const double now = change(item); now < found.change)
                    found = {now, item};
        return found;
    }

    bool step() {
        const auto in = best(false), out = best(true);
        if (set_.size() < family_.lower || set_.size() > family_.upper) {
            const bool grows = set_.size() < family_.lower;
            if (!(grows ? in : out).exists())
                return false;
            grows ? set_.insert(in.item) : set_.remove(out.item);
            return true;
        }
        const bool may_grow = set_.size()<family_.upper, may_shrink = set_.size()> family_.lower;
        if (may_grow && in.improves() && (in.change <= out.change || !may_shrink))
            return set_.insert(in.item), true;
        if (may_shrink && out.improves())
            return set_.remove(out.item), true;
        return out.exists() && exchange(out);
    }

    /// The item that is easiest to remove, for the one that is then best to insert.
    bool exchange(const Flip& out) {
        set_.remove(out.item);
        const auto in = best(false);
        const bool better = in.exists() && in.item != out.item && out.change + in.change < improving;
        set_.insert(better ? in.item : out.item);
        return better;
    }

    const ClusterCosts& costs_;
    std::span<const double> duals_;
    const Family& family_;
    Overlaps set_;
};

} // namespace

FoundCluster descend(const ClusterCosts& costs, std::span<const double> duals, const Family& family,
                     const Items& start) {
    return Descent(costs, duals, family).run(start);
}

} // namespace partita::proofs
