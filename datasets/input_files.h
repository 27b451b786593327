// The files of one data set: one, several, or those that a pattern matches.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/text/text_source.h"

namespace hogbatch {

// `data` has paths or patterns such as part-*.csv on lines of their own; - is standard input. A
// pattern that matches nothing is a UserError.
std::vector<std::string> InputFiles(std::string_view data);
// The files as one argument: the opposite of InputFiles.
std::string JoinFiles(const std::vector<std::string>& files);

// "a.csv", or "a.csv and 2 more".
std::string NameOfFiles(const std::vector<std::string>& files);

// Opens the files as one text. Where a table's first file has a header, the others must have the
// same one; it is left out of them. `label` is the value of --label.
std::unique_ptr<TextSource> OpenFiles(const std::vector<std::string>& files,
                                      const std::string& label, std::size_t max_bytes);

}  // namespace hogbatch
