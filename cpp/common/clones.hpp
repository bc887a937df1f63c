// PARTITA_CLONES compiles a hot leaf function for plain x86-64 and for AVX2; the choice is made when the
// module loads. It needs glibc's loader (ifunc), which musl lacks. Clang cannot clone templates.
//
// PARTITA_INLINE makes a helper part of each clone that calls it: what is not inlined is not cloned.
#pragma once

#if __has_include(<features.h>)
#include <features.h>
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                 \
    !defined(PARTITA_NO_CLONES)
#define PARTITA_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define PARTITA_CLONES
#endif

#if defined(__GNUC__)
#define PARTITA_INLINE inline __attribute__((always_inline))
#else
#define PARTITA_INLINE inline
#endif
