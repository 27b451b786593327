// Folders that the program makes.
#pragma once

#include <string>

#include "core/replaced_file.h"

namespace hogbatch {

// Makes a folder and those above it, each of them synced: it is still there after a power cut.
// False if it existed already. UserError if the program chose its name and it is a link.
bool MakeFolder(const std::string& folder, NamedBy named_by = NamedBy::kProgram);

// UserError if another user put a link in the place of a folder of the program's own: what is
// written or deleted there would be somewhere else.
void RefuseLink(const std::string& folder);

// Names that were made, renamed or removed in it are on disk then. Not every file system can do it,
// and a folder may be writable and not readable: that is no error.
void SyncFolder(const std::string& folder);

}  // namespace hogbatch
