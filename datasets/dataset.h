// Rows with labels in memory, dense or sparse, and how they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "datasets/array.h"
#include "datasets/encoding/split.h"
#include "datasets/schema.h"

namespace hogbatch {

// Immutable once made, so that every worker may read it. Either `dense` or the CSR arrays are
// filled, and of the labels those of schema.label_kind.
struct Dataset {
  std::string source;  // the file, or "covtype-50k (built in)"
  std::int64_t rows = 0;
  std::int64_t features = 0;

  bool is_sparse = false;
  Array<float> dense;           // rows × features
  Array<std::int64_t> offsets;  // rows + 1
  Array<std::int32_t> columns;  // ascending within a row
  Array<float> values;

  Array<std::int32_t> classes;
  Array<std::int64_t> label_offsets;  // rows + 1
  Array<std::int32_t> labels;         // ascending within a row
  Array<float> targets;               // standardised (Schema::target_mean)
  Array<float> weights;               // --weight: of each row; empty: all weigh the same

  std::int64_t skipped_rows = 0;   // of the file: they have no label, and are not among `rows`
  std::vector<std::string> notes;  // what the user should know about how it was read

  std::int64_t bytes() const;  // of the arrays above that are in memory
};

// Rows of a mapped file may be lost while they are read (core/guard/mapped_faults.h). Those read as
// zeros, so that offsets may also fall to 0.
bool IsReadable(const Dataset& data);
// MappingLost if it is not.
void RequireReadable(const Dataset& data);

// Converts the rows to dense or sparse, even if they are then larger. Dense rows that would take
// more than `memory_bytes` (see ReadOptions) are a UserError.
enum class Storage : std::uint8_t { kDense, kSparse };
void ConvertStorage(Dataset& data, Storage storage, std::int64_t memory_bytes = 0);

struct ReadOptions {
  WrittenFormat format = WrittenFormat::kAuto;  // --format
  std::string label = kAutoLabel;               // --label: one of LabelWords, NAME or N (from 1)
  std::string labels;                           // --labels: the file with the labels of an IDX file
  std::string positive;                         // --positive
  LearningTask task = LearningTask::kAuto;      // --task
  ScalingKind scaling = ScalingKind::kAuto;
  double valid_fraction = 0.1;
  Fold fold = {};               // --fold: instead of valid_fraction
  std::string split_by = {};    // --split-by: a column of a CSV; rows of one group stay together
  std::string split_time = {};  // --split-time: a column of a CSV; the latest rows validate
  std::uint64_t seed = 1;       // of the order of the rows
  int threads = 0;              // 0: one a core
  // Columns of a CSV by name or by number from 1.
  std::vector<std::string> categorical = {};  // --categorical: their numbers are codes
  std::vector<std::string> ignore = {};       // --ignore
  std::vector<std::string> keep = {};         // --keep: although a rule would leave it out
  std::string weight = {};                    // --weight: weighs the rows; no feature
  int hash_bits = 10;                         // --hash: of columns with very many categories
  bool fills_columns = false;                 // --missing-columns fill: those that a file lacks
  bool knows_sample_only = false;             // --stream: the schema is that of a part of the rows
  // --memory-limit: what the data set may take; 0: half of the memory that this process may use.
  std::int64_t memory_bytes = 0;
};

// A data set to train on: rows in random order, those from `train_rows` on are for validation.
struct TrainingData {
  Dataset data;
  Schema schema;
  std::int64_t train_rows = 0;
  std::string detected = {};              // how the file is written: "CSV, commas, a header"
  std::vector<ColumnFacts> columns = {};  // of a table, in the order of Schema::table
};

// Adds the note about rows without a label, if there are any beside the `labelled` ones. UserError:
// there are no others.
void NoteSkippedRows(const std::string& source, std::int64_t labelled, Dataset& data);

// Reads a file to train on: finds its format, columns, labels and scaling. An empty path is the
// data set that ships with the program. Throws UserError with file:line:column.
TrainingData ReadTrainingData(const std::string& path, const ReadOptions& options);

// Which rows of a file such a training would learn from, and which would validate, as numbers from
// 0: training rows first. Rows without a label are left out.
struct FileSplit {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> valid;
};
FileSplit SplitFile(const std::string& path, const ReadOptions& options);

// Reads a file to continue the training of a model: columns, labels and scaling are those of its
// schema. Of the options label, positive and scaling are not used.
TrainingData ReadToGoOn(const std::string& path, const Schema& schema, const ReadOptions& options);

// Reads a file as `schema` says, rows in file order. A label the schema does not know, or more
// features than it has, is a UserError. With labels kOptional a CSV without the label column is
// legal, and so are unknown labels: the data set then has none (predict needs none).
// Of the options only labels, threads and memory_bytes are used.
enum class Labels : std::uint8_t { kRequired, kOptional };
Dataset ReadWithSchema(const std::string& path, const Schema& schema, Labels labels,
                       const ReadOptions& options = {});

}  // namespace hogbatch
