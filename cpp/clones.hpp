// PARTITA_CLONES on a hot leaf function: compiled for plain x86-64 and for AVX2, chosen when the module
// loads.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(PARTITA_NO_CLONES)
#define PARTITA_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define PARTITA_CLONES
#endif
