// One function for each file that binds a part of the core. Files have the folders and names of what they
// bind.
#pragma once

#include <nanobind/nanobind.h>

void bind_block_model(nanobind::module_& m);
void bind_components(nanobind::module_& m);
void bind_cuts(nanobind::module_& m);
void bind_ensembles(nanobind::module_& m);
void bind_enumerate(nanobind::module_& m);
void bind_io(nanobind::module_& m);
void bind_labelled_chain(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_gaussian_mixtures(nanobind::module_& m);
void bind_mixture_columns(nanobind::module_& m);
void bind_merge_split_losses(nanobind::module_& m);
void bind_pair_state(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_merge_path(nanobind::module_& m);
void bind_row_bound(nanobind::module_& m);
void bind_sample(nanobind::module_& m);
void bind_problem(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_search_state(nanobind::module_& m);
void bind_shard(nanobind::module_& m);
void bind_signals(nanobind::module_& m);
void bind_threads(nanobind::module_& m);
