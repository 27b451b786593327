// The shared kernels for CUDA; nvcc compiles nothing else.
#include "gpu/kernels/kernels.h"
#include "gpu/kernels/kernels.inc"
