// The options that say how a file of rows is read. Every command that reads one has some of them.
#pragma once

#include <string>
#include <string_view>

#include "core/options.h"
#include "datasets/dataset.h"

namespace hogbatch {

struct ReadingOptions {
  std::string format = "auto";
  std::string labels;  // the file with the labels of an IDX file
  std::string missing_columns = "refuse";
  std::string memory_limit = "auto";

  void VisitFormat(OptionVisitor& visitor);
  void VisitLabels(OptionVisitor& visitor);
  // `files`: those that may lack columns.
  void VisitMissingColumns(OptionVisitor& visitor, std::string_view files);
  void VisitMemoryLimit(OptionVisitor& visitor);

  std::int64_t memory_bytes() const;  // 0: auto
  // All four. UserError for a wrong word.
  ReadOptions Parse() const;
};

}  // namespace hogbatch
