// Makes a Device of a Driver.
#pragma once

#include <memory>

#include "gpu/driver.h"

namespace hogbatch::gpu {

std::unique_ptr<Device> MakeGpuDevice(std::unique_ptr<Driver> driver);

}  // namespace hogbatch::gpu
