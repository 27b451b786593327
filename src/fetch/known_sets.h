// Public data sets that can be fetched by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hogbatch::fetch {

struct RemoteFile {
  std::string_view name;    // on this machine
  std::string_view home;    // the folder it is in, with a slash at its end; empty: not known
  std::string_view remote;  // its name there
  // Of its decompressed content, from a copy that was looked at; empty: there was none at hand.
  std::string_view sha256 = {};
};

struct KnownSet {
  std::string_view name;
  std::string_view summary;  // for --help
  std::span<const RemoteFile> files;
};

std::span<const KnownSet> KnownSets();
// UserError, which names all sets, for another name.
const KnownSet& FindSet(std::string_view name);

}  // namespace hogbatch::fetch
