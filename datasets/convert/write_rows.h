// Rows of a data set as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/convert/write_table.h"
#include "datasets/dataset.h"

namespace hogbatch {

// The label of a row as text: "3", "2,17" (several labels), "1.5".
std::string LabelOf(const Dataset& data, const Schema& schema, std::int64_t row);

// "LABEL INDEX:VALUE …", indices from 1. Classes whose names are not all numbers are numbered.
std::string LibsvmRow(const Dataset& data, const Schema& schema, std::int64_t row);
// Values of all features, then the label.
std::string CsvRow(const Dataset& data, const Schema& schema, std::int64_t row);
// The names of the features, then that of the label.
std::string CsvHeader(const Schema& schema);

// A name for every feature: of a table "column" or "column=category", else numbers from 1.
std::vector<std::string> FeatureNames(const Schema& schema);

// Whether the names of classes are numbers that a LIBSVM file can hold.
bool HasNumericLabels(const Schema& schema);

// All rows as CSV, with a header, or as LIBSVM.
void WriteRows(const Dataset& data, const Schema& schema, WrittenFormat to, const TakeText& write);

}  // namespace hogbatch
