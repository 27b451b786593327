#include "cpu/product.h"

#include "core/clones.h"
#include "cpu/dot_tiles.h"
#include "cpu/product_tiles.h"

namespace hogbatch::cpu {

// One version per vector width; the loader picks, as with HOGBATCH_CLONES. Only this file may call
// them: elsewhere the name would mean the last one.
#ifdef HOGBATCH_MULTIVERSION
__attribute__((target("arch=x86-64-v4"))) void Blocks(const Product& product, float* tail) {
  MultiplyBlock<16>(product, tail);
}
__attribute__((target("arch=x86-64-v4"))) void DotTiles(const Dots& dots) {
  MultiplyDotTiles<16>(dots);
}
__attribute__((target("arch=x86-64-v4"))) int Width() { return 16; }

__attribute__((target("arch=x86-64-v3"))) void Blocks(const Product& product, float* tail) {
  MultiplyBlock<8>(product, tail);
}
__attribute__((target("arch=x86-64-v3"))) void DotTiles(const Dots& dots) {
  MultiplyDotTiles<8>(dots);
}
__attribute__((target("arch=x86-64-v3"))) int Width() { return 8; }

#define HOGBATCH_OTHERWISE __attribute__((target("default")))
#else
#define HOGBATCH_OTHERWISE
#endif
HOGBATCH_OTHERWISE void Blocks(const Product& product, float* tail) {
  MultiplyBlock<4>(product, tail);
}
HOGBATCH_OTHERWISE void DotTiles(const Dots& dots) { MultiplyDotTiles<4>(dots); }
HOGBATCH_OTHERWISE int Width() { return 4; }

void Multiply(const Product& product, float* tail) { Blocks(product, tail); }
void MultiplyDots(const Dots& dots) { DotTiles(dots); }
int VectorWidth() { return Width(); }

}  // namespace hogbatch::cpu
