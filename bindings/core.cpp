// The Python module of the native core. Bindings convert arrays and release the GIL; nothing else.
#include "bindings/bindings.hpp"
#include "bindings/common/signals.hpp"

NB_MODULE(_core, m) {
    [[maybe_unused]] const HeldSignals held;
    m.doc() = "Native core of partita; use the functions of the partita package instead.";
#ifdef NDEBUG
    // Threads that outlive the interpreter, such as Dask's, may hold objects: nothing a user could act on.
    nanobind::set_leak_warnings(false);
#endif
    bind_components(m);
    bind_cuts(m);
    bind_ensembles(m);
    bind_block_model(m);
    bind_io(m);
    bind_labelled_chain(m);
    bind_sample(m);
    bind_problem(m);
    bind_losses(m);
    bind_merge_split_losses(m);
    bind_pairs(m);
    bind_pair_state(m);
    bind_enumerate(m);
    bind_gaussian_mixtures(m);
    bind_mixture_columns(m);
    bind_search(m);
    bind_search_state(m);
    bind_shard(m);
    bind_merge_path(m);
    bind_row_bound(m);
    bind_signals(m);
    bind_threads(m);
}
