// Vectorised loops for the processor the program runs on.
//
// A binary must run on any x86-64 and still use what it finds: g++ compiles a function marked
// HOGBATCH_CLONES three times and picks one when the program loads. What such a function calls must
// be inlined into it, or it would call the oldest processor's code. Clang builds serve the
// sanitizers, where the picking would run before they are ready.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HOGBATCH_MULTIVERSION 1
#define HOGBATCH_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define HOGBATCH_CLONES
#endif
