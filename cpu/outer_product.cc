#include "cpu/outer_product.h"

#include <algorithm>

#include "cpu/outer_product_tiles.h"
#include "cpu/simd.h"

namespace hogbatch::cpu {

// One version a vector width; the loader picks, as with HOGBATCH_CLONES.
#ifdef HOGBATCH_MULTIVERSION
__attribute__((target("arch=x86-64-v4"))) void AddPanels(const OuterProduct& p, float* scratch) {
  AddBlock<16>(p, scratch);
}
__attribute__((target("arch=x86-64-v3"))) void AddPanels(const OuterProduct& p, float* scratch) {
  AddBlock<8>(p, scratch);
}
__attribute__((target("default")))
#endif
void AddPanels(const OuterProduct& p, float* scratch) {
  AddBlock<4>(p, scratch);
}

void AddOuterProduct(const OuterProduct& product, Scratch& scratch) {
  float* const panels = scratch.Get(static_cast<std::size_t>(ScratchFloats(product)));
  for (std::int64_t j = 0; j < product.cols; j += kColumns) {
    // At least once, so that a batch without rows still keeps or clears.
    for (std::int64_t d = 0; d == 0 || d < product.depth; d += kDepth) {
      OuterProduct block = product;
      block.depth = std::min(kDepth, product.depth - d);
      block.cols = std::min(kColumns, product.cols - j);
      block.a += d * product.a_stride;
      block.b += d * product.b_stride + j;
      block.c += j;
      if (d > 0) block.keep = 1;
      AddPanels(block, panels);
    }
  }
}

}  // namespace hogbatch::cpu
