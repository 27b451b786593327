// Where tests find files. Only the small source behind this header holds absolute paths: ccache
// then serves all other objects to any clone.
#pragma once

#include <string>
#include <string_view>

namespace hogbatch {

std::string InSource(std::string_view path);  // below the root of the sources
std::string InBuild(std::string_view path);   // below the build folder of this preset

}  // namespace hogbatch
