// Python objects in functions that the core copies and destroys on its own threads.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

/// Shares an object between copies that are made and destroyed without the GIL: only the last one touches its
/// count of references, with the GIL.
inline std::shared_ptr<nanobind::object> hold(nanobind::object object) {
    return {new nanobind::object(std::move(object)), [](nanobind::object* held) {
                nanobind::gil_scoped_acquire acquire;
                delete held;
            }};
}
