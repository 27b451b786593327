// Products, and the most expensive kernels of gpu/kernels, for OpenCL devices that are processors;
// compiled after kernels.h and kernels.inc. On a processor the items of a group are iterations of a
// loop. So a group has one item here, which keeps a tile of the result in registers. A kernel named
// X_on_processor is launched with the parameters and groups of X.

#define HB_KERNEL_OF_ONE __kernel __attribute__((reqd_work_group_size(1, 1, 1)))
#define HB_UNROLLED(i, n) _Pragma("unroll") for (int i = 0; i < n; ++i)

// 8, 4 or 1 columns at a time. Wider vectors would need AVX-512 in the built-in functions.
#define HB_VECTOR_1 float
#define HB_VECTOR_4 float4
#define HB_VECTOR_8 float8
#define HB_LOAD_1(from) (*(from))
#define HB_LOAD_4(from) vload4(0, from)
#define HB_LOAD_8(from) vload8(0, from)
#define HB_STORE_1(value, to) (*(to) = (value))
#define HB_STORE_4(value, to) vstore4(value, 0, to)
#define HB_STORE_8(value, to) vstore8(value, 0, to)

// Calls tiles(vectors, width) for columns [c, end): wide tiles first, then narrower ones. The macro
// reads and advances c.
#define HB_FOR_TILES(tiles, wide, c, end)      \
  for (; c + wide * 8 <= end; c += wide * 8) { \
    tiles(wide, 8);                            \
  }                                            \
  for (; c + 4 <= end; c += 4) {               \
    tiles(1, 4);                               \
  }                                            \
  for (; c < end; ++c) {                       \
    tiles(1, 1);                               \
  }

// ---- c = alpha * op(a) * op(b) + beta * c. With beta 0, c is not read, so NaN in it has no
// effect.

#define HB_TILE_ROWS 4  // with 16 columns this takes half of AVX2's registers
#define HB_PRODUCT                                                                         \
  HB_READ(float, a), long a_row, long a_inner, HB_READ_MATRIX(b), float alpha, float beta, \
      HB_WRITE_MATRIX(c), long rows, long cols, long inner, long block_rows, long a_apart, \
      long b_apart, long c_apart
// The third dimension counts lanes, whose operands lie so far apart.
#define HB_TO_LANE                       \
  a += (long)get_global_id(2) * a_apart; \
  b += (long)get_global_id(2) * b_apart; \
  c += (long)get_global_id(2) * c_apart

// a * b and, with a's strides exchanged, a^T * b. An item takes 16 columns of a block of rows. A
// tile that reaches beyond the last row computes the last row more than once.
HB_KERNEL_OF_ONE void hb_product(HB_PRODUCT) {
  HB_TO_LANE;
  const long first = get_global_id(1) * block_rows, end = min(first + block_rows, rows);
  const long last = min((long)get_global_id(0) * 16 + 16, cols);
  long j = get_global_id(0) * 16;
#define HB_PRODUCT_TILES(vectors, width)                                                           \
  for (long r = first; r < end; r += HB_TILE_ROWS) {                                               \
    HB_GLOBAL const float* row[HB_TILE_ROWS];                                                      \
    HB_VECTOR_##width sum[HB_TILE_ROWS][vectors];                                                  \
    HB_UNROLLED(t, HB_TILE_ROWS) {                                                                 \
      row[t] = a + a_at + min(r + t, end - 1) * a_row;                                             \
      HB_UNROLLED(v, vectors) sum[t][v] = 0;                                                       \
    }                                                                                              \
    for (long k = 0; k < inner; ++k) {                                                             \
      HB_VECTOR_##width other[vectors];                                                            \
      HB_UNROLLED(v, vectors) other[v] = HB_LOAD_##width(b + b_at + k * b_stride + j + v * width); \
      HB_UNROLLED(t, HB_TILE_ROWS) {                                                               \
        const HB_VECTOR_##width x = row[t][k * a_inner];                                           \
        HB_UNROLLED(v, vectors) sum[t][v] = mad(x, other[v], sum[t][v]);                           \
      }                                                                                            \
    }                                                                                              \
    HB_UNROLLED(t, HB_TILE_ROWS) {                                                                 \
      HB_UNROLLED(v, vectors) {                                                                    \
        HB_GLOBAL float* to = c + c_at + (r + t) * c_stride + j + v * width;                       \
        const HB_VECTOR_##width made = alpha * sum[t][v];                                          \
        if (r + t < end) {                                                                         \
          HB_STORE_##width(beta == 0 ? made : made + beta * HB_LOAD_##width(to), to);              \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }
  HB_FOR_TILES(HB_PRODUCT_TILES, 2, j, last);
}

float hb_total(float8 x) {
  const float4 four = x.lo + x.hi;
  const float2 two = four.lo + four.hi;
  return two.x + two.y;
}

// a * b^T, a product of rows with rows. An item processes two rows of b.
HB_KERNEL_OF_ONE void hb_product_of_rows(HB_PRODUCT) {
  HB_TO_LANE;
  const long first = get_global_id(1) * block_rows, end = min(first + block_rows, rows);
  const long j = get_global_id(0) * 2;
  const int has_second = j + 1 < cols;
  HB_GLOBAL const float* b0 = b + b_at + j * b_stride;
  HB_GLOBAL const float* b1 = has_second ? b0 + b_stride : b0;
  for (long r = first; r < end; r += HB_TILE_ROWS) {
    HB_GLOBAL const float* row[HB_TILE_ROWS];
    float8 sum0[HB_TILE_ROWS], sum1[HB_TILE_ROWS];
    HB_UNROLLED(t, HB_TILE_ROWS) {
      row[t] = a + a_at + min(r + t, end - 1) * a_row;
      sum0[t] = 0;
      sum1[t] = 0;
    }
    long k = 0;
    for (; k + 8 <= inner; k += 8) {
      const float8 other0 = vload8(0, b0 + k), other1 = vload8(0, b1 + k);
      HB_UNROLLED(t, HB_TILE_ROWS) {
        const float8 x = vload8(0, row[t] + k);
        sum0[t] = mad(x, other0, sum0[t]);
        sum1[t] = mad(x, other1, sum1[t]);
      }
    }
    for (; k < inner; ++k) {
      HB_UNROLLED(t, HB_TILE_ROWS) {
        sum0[t].s0 += row[t][k] * b0[k];
        sum1[t].s0 += row[t][k] * b1[k];
      }
    }
    HB_UNROLLED(t, HB_TILE_ROWS) {
      if (r + t < end) {
        HB_GLOBAL float* to = c + c_at + (r + t) * c_stride + j;
        to[0] = alpha * hb_total(sum0[t]) + (beta == 0 ? 0.0f : beta * to[0]);
        if (has_second) to[1] = alpha * hb_total(sum1[t]) + (beta == 0 ? 0.0f : beta * to[1]);
      }
    }
  }
}

// ---- Sparse layers, 64 columns at a time.

#define HB_COLUMNS 64

HB_KERNEL_OF_ONE void hb_csr_forward_on_processor(HB_READ(long, offsets), HB_READ(int, columns),
                                                  HB_READ(float, values), HB_READ_MATRIX(w),
                                                  HB_READ(float, bias), HB_WRITE_MATRIX(y),
                                                  HB_WRITE_MATRIX(pre), int f, long rows,
                                                  long cols) {
  const long strips = (cols + HB_COLUMNS - 1) / HB_COLUMNS;
  HB_FOR_GROUPS(g, rows * strips) {
    const long r = g / strips, first = (g - r * strips) * HB_COLUMNS;
    const long begin = offsets[offsets_at + r], end = offsets[offsets_at + r + 1];
    const long last = min(first + HB_COLUMNS, cols);
    HB_GLOBAL float* to = y + y_at + r * y_stride;
    long j = first;
#define HB_FORWARD_TILE(vectors, width)                                                   \
  {                                                                                       \
    HB_VECTOR_##width sum[vectors];                                                       \
    HB_UNROLLED(v, vectors) sum[v] = 0;                                                   \
    for (long e = begin; e < end; ++e) {                                                  \
      HB_GLOBAL const float* from = w + w_at + columns[columns_at + e] * w_stride + j;    \
      const HB_VECTOR_##width x = values[values_at + e];                                  \
      HB_UNROLLED(v, vectors) sum[v] = mad(x, HB_LOAD_##width(from + v * width), sum[v]); \
    }                                                                                     \
    HB_UNROLLED(v, vectors) HB_STORE_##width(sum[v], to + j + v * width);                 \
  }
    HB_FOR_TILES(HB_FORWARD_TILE, 8, j, last);
    for (long c = first; c < last; ++c) {
      const float sum = to[c] + bias[bias_at + c];
      if (pre_stride) pre[pre_at + r * pre_stride + c] = sum;
      to[c] = hb_activated(f, sum);
    }
  }
}

// Each column belongs to one item, so no other item adds to it.
HB_KERNEL_OF_ONE void hb_csr_scatter_on_processor(HB_READ(long, offsets), HB_READ(int, columns),
                                                  HB_READ(float, values), HB_READ_MATRIX(dy),
                                                  float scale, HB_WRITE_MATRIX(dw), long rows,
                                                  long cols) {
  HB_FOR_GROUPS(g, (cols + HB_COLUMNS - 1) / HB_COLUMNS) {
    const long last = min((g + 1) * HB_COLUMNS, cols);
    long j = g * HB_COLUMNS;
#define HB_SCATTER_TILES(vectors, width)                                                    \
  for (long r = 0; r < rows; ++r) {                                                         \
    HB_VECTOR_##width down[vectors];                                                        \
    HB_UNROLLED(v, vectors) {                                                               \
      down[v] = scale * HB_LOAD_##width(dy + dy_at + r * dy_stride + j + v * width);        \
    }                                                                                       \
    for (long e = offsets[offsets_at + r]; e < offsets[offsets_at + r + 1]; ++e) {          \
      HB_GLOBAL float* to = dw + dw_at + columns[columns_at + e] * dw_stride + j;           \
      const HB_VECTOR_##width x = values[values_at + e];                                    \
      HB_UNROLLED(v, vectors) {                                                             \
        HB_STORE_##width(mad(x, down[v], HB_LOAD_##width(to + v * width)), to + v * width); \
      }                                                                                     \
    }                                                                                       \
  }
    HB_FOR_TILES(HB_SCATTER_TILES, 8, j, last);
  }
}

// ---- Passes over whole tensors. No division by the row length.

#define HB_PIECE 1024  // columns of a row that an item processes at a time
#define HB_FOR_PIECES(r, first, last, rows, cols)                \
  const long pieces = ((cols) + HB_PIECE - 1) / HB_PIECE;        \
  HB_FOR_GROUPS(g, (rows) * pieces)                              \
  for (long r = g / pieces, first = (g - r * pieces) * HB_PIECE, \
            last = min(first + HB_PIECE, cols), once = 1;        \
       once; once = 0)

HB_KERNEL_OF_ONE void hb_add_scaled_on_processor(HB_READ_MATRIX(x), float scale, float keep,
                                                 HB_WRITE_MATRIX(y), long rows, long cols) {
  HB_FOR_PIECES(r, first, last, rows, cols) {
    HB_GLOBAL const float* from = x + x_at + r * x_stride;
    HB_GLOBAL float* to = y + y_at + r * y_stride;
    if (keep == 0) {
      for (long c = first; c < last; ++c) to[c] = scale * from[c];
    } else {
      for (long c = first; c < last; ++c) to[c] = keep * to[c] + scale * from[c];
    }
  }
}

HB_KERNEL_OF_ONE void hb_fill_on_processor(HB_WRITE_MATRIX(y), float value, long rows, long cols) {
  HB_FOR_PIECES(r, first, last, rows, cols) {
    HB_GLOBAL float* to = y + y_at + r * y_stride;
    for (long c = first; c < last; ++c) to[c] = value;
  }
}
