// Converts labels as written to classes, sets of labels or values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "datasets/dataset.h"
#include "datasets/readers/parsed_file.h"
#include "datasets/schema.h"

namespace hogbatch {

// A label that cannot be used: which one, and the sentence for it.
struct LabelProblem {
  std::int64_t row;
  std::int64_t label;
  std::string what;
  std::string unknown = {};  // the label in quotation marks, if the schema does not know it
};

// What the user says about labels.
struct LabelOptions {
  LearningTask task = LearningTask::kAuto;
  std::string positive = {};
};

// Finds the kind of the labels and their names; fills those fields of the schema, but not the mean
// and deviation of values. Returns what the user should know of it, or nothing. Throws UserError
// for what concerns the whole file and LabelProblem for one row.
//
// By itself it takes whole numbers for classes if nearly all of them occur in several rows, and for
// values to predict otherwise.
std::string LearnLabels(const ParsedFile& file, const std::string& source,
                        const LabelOptions& options, Schema& schema);

// The mean and deviation of the values in the given rows, into the schema.
void LearnTargets(const ParsedFile& file, const std::string& source,
                  std::span<const std::int64_t> rows, Schema& schema);
// The same from a mean and a variance. UserError if predictions could not fit a float.
void SetTargetScale(const std::string& source, double mean, double variance, Schema& schema);

// How the labels of a table that are words write numbers; none: some are other words, or there are
// no words.
std::optional<NumberStyle> StyleOfLabels(const ParsedFile& file);

// Labels that are words and numbers in this style become numbers.
void ReadWrittenLabels(ParsedFile& file, NumberStyle style);

// Fills the data set's labels as the schema has them; row i comes from order[i], or without an
// order from i. The first label that cannot be used is returned, and the labels are then empty.
std::optional<LabelProblem> EncodeLabels(const ParsedFile& file, const Schema& schema,
                                         std::span<const std::int64_t> order, Dataset& data);

}  // namespace hogbatch
