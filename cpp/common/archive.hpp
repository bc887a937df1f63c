// A sampler's state as bytes, and back. A state may only be read by the build that wrote it, or an equivalent
// one.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace partita::common {

class StateWriter {
public:
    template <class... Fields> void operator()(Fields&... fields) { (put(fields), ...); }
    std::string bytes() && { return std::move(bytes_); }

private:
    template <class T> void put(T& value) {
        if constexpr (requires { value.visit(*this); }) {
            value.visit(*this);
        } else {
            static_assert(std::is_trivially_copyable_v<T>);
            bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
        }
    }
    template <class T> void put(std::vector<T>& values) {
        auto size = values.size();
        put(size);
        if (size > 0)
            bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    }

    std::string bytes_;
};

class StateReader {
public:
    // Reads what it does not own: `bytes` must outlive it.
    explicit StateReader(std::string_view bytes) : bytes_(bytes) {}
    template <class... Fields> void operator()(Fields&... fields) { (get(fields), ...); }
    bool at_end() const { return place_ == bytes_.size(); }

private:
    void need(std::size_t count) const {
        if (count > bytes_.size() - place_)
            throw std::invalid_argument("the state is too short for this model and data");
    }
    template <class T> void get(T& value) {
        if constexpr (requires { value.visit(*this); }) {
            value.visit(*this);
        } else {
            static_assert(std::is_trivially_copyable_v<T>);
            need(sizeof(T));
            std::memcpy(&value, bytes_.data() + place_, sizeof(T));
            place_ += sizeof(T);
        }
    }
    template <class T> void get(std::vector<T>& values) {
        std::size_t size = 0;
        get(size);
        if (size > (bytes_.size() - place_) / sizeof(T))
            need(bytes_.size() + 1);
        values.resize(size);
        if (size > 0)
            std::memcpy(values.data(), bytes_.data() + place_, size * sizeof(T));
        place_ += size * sizeof(T);
    }

    std::string_view bytes_;
    std::size_t place_ = 0;
};

} // namespace partita::common
