// Weights of a layer with few outputs, which would leave most of a vector empty, as rows: element
// (k, n) of the weights is element (n, k) of the rows.
#pragma once

#include <cstdint>

namespace hogbatch::cpu {

constexpr std::int64_t kThin = 4;  // columns

// rows = wᵀ. w may be shared weights; its rows lie `stride` floats apart.
void CopyColumns(const float* w, std::int64_t stride, std::int64_t height, std::int64_t width,
                 float* rows);
// w = keep · w + scale · rowsᵀ. With keep 0 w may hold anything before.
void AddColumns(const float* rows, float scale, float keep, std::int64_t height, std::int64_t width,
                float* w, std::int64_t stride);

}  // namespace hogbatch::cpu
