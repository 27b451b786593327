// The kernels that cuBLAS, cuDNN and CLBlast do not have, written once in the common subset of
// CUDA C++, OpenCL C and plain C++ (kernels.inc), and declared here for all three.
//
// On a GPU a kernel runs in groups of HB_ITEMS work items. As plain C++ it is called once per group
// and loops over the items itself; HB_GROUP and HB_GROUPS are then hb_host_group and
// hb_host_groups, which the caller sets. A phase must not depend on the order of its items:
// hb_host_order, any number in [0, HB_ITEMS), changes that order.
//
//   HB_FOR_EACH(i, n) {...}    i runs over [0, n), spread over all items of all groups
//   HB_FOR_GROUPS(g, n) {...}  g runs over [0, n), spread over the groups
//   HB_PHASE(item) {...}       all items of a group; a barrier follows. What crosses phases is
//                              local or global memory, never a variable. No break, continue or
//                              return in one, and none in a loop around one that not all items
//                              share.
//   HB_IN_RUN(k, n) {...}      k runs over the columns that an item takes at once, if there are n
//                              of them: HB_RUN, which is one on a GPU, where the next item has the
//                              next column, and as many as make vectors in plain C++
//
// Guarded by hand and in plain ASCII: OpenCL gets this text as its main file, where there is no
// `#pragma once`, and its compilers promise no more.
#ifndef HOGBATCH_GPU_KERNELS_KERNELS_H
#define HOGBATCH_GPU_KERNELS_KERNELS_H

#define HB_ITEMS 256
// Columns that a group of hb_column_sums processes at a time.
#define HB_STRIP 32

#if defined(__OPENCL_VERSION__)
#define HB_KERNEL __kernel __attribute__((reqd_work_group_size(HB_ITEMS, 1, 1)))
#define HB_GLOBAL __global
#define HB_LOCAL __local
#define HB_LOCAL_POINTER __local
#define HB_DEVICE
#define HB_GROUP ((long)get_group_id(0))
#define HB_GROUPS ((long)get_num_groups(0))
#define HB_ITEM ((int)get_local_id(0))
#define HB_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#elif defined(__CUDACC__)
#define HB_KERNEL extern "C" __global__
#define HB_GLOBAL
#define HB_LOCAL __shared__
#define HB_LOCAL_POINTER
#define HB_DEVICE static __device__
#define HB_GROUP ((long)blockIdx.x)
#define HB_GROUPS ((long)gridDim.x)
#define HB_ITEM ((int)threadIdx.x)
#define HB_BARRIER() __syncthreads()
#else
#define HB_KERNEL extern "C"
#define HB_GLOBAL
#define HB_LOCAL
#define HB_LOCAL_POINTER
#define HB_DEVICE static inline
#define HB_GROUP hb_host_group
#define HB_GROUPS hb_host_groups
extern thread_local long hb_host_group;
extern thread_local long hb_host_groups;
extern thread_local int hb_host_order;
#endif

#define HB_FOR_GROUPS(g, n) for (long g = HB_GROUP; g < (n); g += HB_GROUPS)
#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)
#define HB_FOR_EACH(i, n) \
  for (long i = HB_GROUP * HB_ITEMS + HB_ITEM; i < (n); i += HB_GROUPS * HB_ITEMS)
#define HB_PHASE(item) for (int item = HB_ITEM, once = 1; once; once = 0, HB_BARRIER())
#define HB_RUN 1
#define HB_IN_RUN(k, n) for (int k = 0; k < 1; ++k)
#else
// Runs of 16 items, in the caller's order, so that a compiler can vectorise them.
#define HB_FOR_EACH(i, n)                                                                         \
  for (long hb_at = HB_GROUP * HB_ITEMS, hb_n = (n); hb_at < hb_n; hb_at += HB_GROUPS * HB_ITEMS) \
    for (int hb_turn = 0; hb_turn < HB_ITEMS / 16; ++hb_turn)                                     \
      for (long i = hb_at + 16 * (hb_turn ^ (hb_host_order / 16)),                                \
                hb_end = i + 16 < hb_n ? i + 16 : hb_n;                                           \
           i < hb_end; ++i)
#define HB_PHASE(item)                                            \
  for (int hb_turn = 0, item = hb_host_order; hb_turn < HB_ITEMS; \
       ++hb_turn, item = hb_turn ^ hb_host_order)
#define HB_RUN 32
#if defined(__clang__)  // warns about loops that it does not vectorise
#define HB_NO_ALIASES
#else
#define HB_NO_ALIASES _Pragma("GCC ivdep")
#endif
#define HB_IN_RUN(k, n) \
  HB_NO_ALIASES for (long k = 0, hb_run = (n) < HB_RUN ? (n) : HB_RUN; k < hb_run; ++k)
#endif

// A block of memory and an offset in elements, since OpenCL has no addresses inside a block.
#define HB_READ(type, name) HB_GLOBAL const type *name, long name##_at
#define HB_WRITE(type, name) HB_GLOBAL type *name, long name##_at
// A row-major matrix. Stride 0: there is no matrix.
#define HB_READ_MATRIX(name) HB_READ(float, name), long name##_stride
#define HB_WRITE_MATRIX(name) HB_WRITE(float, name), long name##_stride

// f is an Activation of device/activation.h, as a number.

// pre = y + bias; y = f(y + bias)
HB_KERNEL void hb_activate(HB_WRITE_MATRIX(y), HB_READ(float, bias), HB_WRITE_MATRIX(pre), int f,
                           long rows, long cols);
// dx *= f'; x is the output of f or, for GELU, its input
HB_KERNEL void hb_slope(HB_WRITE_MATRIX(dx), HB_READ_MATRIX(x), int f, long rows, long cols);
// y = (keep == 0 ? 0 : y) + scale * sum of the rows of x
HB_KERNEL void hb_column_sums(HB_READ_MATRIX(x), float scale, float keep, HB_WRITE(float, y),
                              long rows, long cols);
// y = f(x * w + bias) for sparse x, pre as above
HB_KERNEL void hb_csr_forward(HB_READ(long, offsets), HB_READ(int, columns), HB_READ(float, values),
                              HB_READ_MATRIX(w), HB_READ(float, bias), HB_WRITE_MATRIX(y),
                              HB_WRITE_MATRIX(pre), int f, long rows, long cols);
// dw += scale * x^T * dy for sparse x
HB_KERNEL void hb_csr_scatter(HB_READ(long, offsets), HB_READ(int, columns), HB_READ(float, values),
                              HB_READ_MATRIX(dy), float scale, HB_WRITE_MATRIX(dw), long rows,
                              long cols);
// The losses of device/device.h. loss_stride is the distance between the losses of two rows of the
// batch. Lanes lie side by side: each has `cols` outputs, and its class weights lie weights_apart
// behind those of the last one. `rows` counts a row of the batch once for each lane. Kernels cannot
// throw: a class or label that is not among the outputs makes the loss of its row NaN and is
// otherwise ignored.
HB_KERNEL void hb_softmax_loss(HB_READ_MATRIX(outputs), HB_READ(int, classes),
                               HB_READ(float, weights), int has_weights, long weights_apart,
                               float scale, HB_WRITE(float, losses), long loss_stride,
                               HB_WRITE_MATRIX(gradient), long lanes, long rows, long cols);
// The same from log softmax: `gradient` holds it on entry and the gradient on return.
HB_KERNEL void hb_softmax_finish(HB_READ(int, classes), HB_READ(float, weights), int has_weights,
                                 float scale, HB_WRITE(float, losses), long loss_stride,
                                 HB_WRITE_MATRIX(gradient), long rows, long cols);
HB_KERNEL void hb_sigmoid_loss(HB_READ_MATRIX(outputs), HB_READ(long, offsets),
                               HB_READ(int, labels), HB_READ(float, weights), int has_weights,
                               long weights_apart, float scale, HB_WRITE(float, losses),
                               long loss_stride, HB_WRITE_MATRIX(gradient), long lanes, long rows,
                               long cols);
HB_KERNEL void hb_squared_loss(HB_READ_MATRIX(outputs), HB_READ(float, values), float scale,
                               HB_WRITE(float, losses), long loss_stride, HB_WRITE_MATRIX(gradient),
                               long lanes, long rows, long cols);
// y = keep * y + scale * x, y is not read if keep is 0
HB_KERNEL void hb_add_scaled(HB_READ_MATRIX(x), float scale, float keep, HB_WRITE_MATRIX(y),
                             long rows, long cols);
// y[places[i]] += scale * x[i] for rows i of x; a row with a negative place is skipped
HB_KERNEL void hb_add_rows(HB_READ_MATRIX(x), HB_READ(int, places), float scale, HB_WRITE_MATRIX(y),
                           long rows, long cols);
// y[i] *= factors[i] for rows i of y
HB_KERNEL void hb_scale_rows(HB_READ(float, factors), HB_WRITE_MATRIX(y), long rows, long cols);
// y *= factors[c / width] for columns c of y; with factor 0 it becomes 0
HB_KERNEL void hb_scale_lanes(HB_READ(float, factors), long width, HB_WRITE_MATRIX(y), long rows,
                              long cols);
HB_KERNEL void hb_fill(HB_WRITE_MATRIX(y), float value, long rows, long cols);
// The steps of device/device.h. Row i of the gradient belongs to row touched[i] of the state if
// has_touched, and to that row of w if also w_is_whole. If has_steps, element (r, c) has step r /
// lane_rows + c / lane_cols of `steps`, with the same numbers in the same order.
HB_KERNEL void hb_momentum(HB_READ_MATRIX(gradient), float rate, float momentum, float keep,
                           HB_READ(float, steps), int has_steps, long lane_rows, long lane_cols,
                           HB_READ(int, touched), HB_READ(int, skipped), int has_touched,
                           int w_is_whole, HB_WRITE_MATRIX(velocity), HB_WRITE_MATRIX(w), long rows,
                           long cols);
HB_KERNEL void hb_adam(HB_READ_MATRIX(gradient), float rate, float beta1, float beta2,
                       float epsilon, float keep, HB_READ(float, steps), int has_steps,
                       long lane_rows, long lane_cols, HB_READ(int, touched), HB_READ(int, skipped),
                       int has_touched, int w_is_whole, HB_WRITE_MATRIX(mean),
                       HB_WRITE_MATRIX(square), HB_WRITE_MATRIX(w), long rows, long cols);

#endif
