#pragma once

namespace hogbatch {

// What an update costs in virtual time.
struct CostModel {
  double seconds_per_row = 0;
  double seconds_per_update = 0;
};

}  // namespace hogbatch
