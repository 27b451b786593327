// Maps file columns to features. If few of very many columns occur, only those become features, so
// that memory depends on the non-zeros.
#pragma once

#include "datasets/readers/parsed_file.h"
#include "datasets/schema.h"

namespace hogbatch {

// Fills file_columns, used_columns and features of a LIBSVM schema and renumbers the parsed
// columns.
void LearnColumns(ParsedFile& file, Schema& schema, int threads);

// Renumbers parsed columns as the schema has them; those it does not use are dropped.
void ApplyColumns(ParsedFile& file, const Schema& schema, int threads);

}  // namespace hogbatch
