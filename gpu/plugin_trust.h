// Which plug-ins may be opened: their code runs with all that the user may do.
#pragma once

#include <filesystem>

namespace hogbatch::gpu {

// The file itself, all links resolved. DeviceError, with what to do, if anyone else could have put
// it there: one who can write it, its folder or a folder above, or who owns it. The owner of the
// program is trusted as well as root and this user.
std::filesystem::path TrustedPlugin(const std::filesystem::path& plugin);

}  // namespace hogbatch::gpu
