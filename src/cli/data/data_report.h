// What is in a file of data, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.h"

namespace hogbatch {

struct DataReport {
  std::string source;
  std::string detected;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  double stored_share = 1;  // of the values: those that are not 0 in a sparse set
  Schema schema;
  std::vector<ColumnFacts> columns;
  std::vector<std::pair<std::string, std::int64_t>> classes;  // and their rows, most frequent first
  double least = 0, mean = 0, most = 0;                       // of labels that are numbers
  std::vector<std::string> notes;
};

DataReport MakeDataReport(const TrainingData& data);
std::string DataText(const DataReport& report);
std::string DataJson(const DataReport& report);

}  // namespace hogbatch
