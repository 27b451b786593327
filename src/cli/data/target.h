// Where the data commands write to.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/options.h"
#include "core/replaced_file.h"
#include "datasets/convert/write_table.h"
#include "datasets/schema.h"

namespace hogbatch {

// The option --to.
void VisitTarget(OptionVisitor& visitor, std::string& to);

// What --to means for a file name. Compressed names are refused: hogbatch writes plain files.
WrittenFormat TargetFormat(const std::string& to, const std::string& path);

// UserError for - and pipes: commands that read their data more than once need a file.
void RefusePipes(std::string_view command, const std::string& data);

// Writes a file as a whole or not at all; - is standard output. `write` gets the function that
// takes its text.
void WriteTarget(const std::string& path, NamedBy named_by,
                 const std::function<void(const TakeText&)>& write);

}  // namespace hogbatch
