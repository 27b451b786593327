// The kernels as host loops. In a file of its own, so that a mutant may replace it.
#include "gpu/kernels/kernels.h"

// They come after what declares them.
#include "gpu/kernels/kernels.inc"
