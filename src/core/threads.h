// Starting threads, with a sentence for the user if there are too many.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"

namespace hogbatch {

// Why no further thread can be started: the limits of the user and of the container.
std::string ThreadLimits(const std::system_error& error);

// A thread that runs `body`. Throws Error, which names the limits, if the system refuses it.
template <typename Body, typename... Arguments>
std::jthread StartThread(Body&& body, Arguments&&... arguments) {
  try {
    return std::jthread(std::forward<Body>(body), std::forward<Arguments>(arguments)...);
  } catch (const std::system_error& error) {
    throw Error(ThreadLimits(error));
  }
}

}  // namespace hogbatch
