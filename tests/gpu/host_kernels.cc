// The shared kernels as plain C++.
#include "gpu/kernels/kernels.h"
#include "gpu/kernels/kernels.inc"
