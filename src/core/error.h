// Every failure is an exception that carries a sentence for the user: what was wrong, where, what
// to do.
#pragma once

#include <exception>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace hogbatch {

// Something this machine or this program did wrong: exit code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Something the user can put right, in a file or on the command line: exit code 2.
class UserError : public Error {
 public:
  using Error::Error;
};

// A failing call of a device; the worker that drives it ends and the others go on.
class DeviceError : public Error {
 public:
  using Error::Error;
};

// Memory that was asked for is not there. The device is as it was before the call, and may be used
// further.
class OutOfDeviceMemory : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// What to tell the user of it: what(), but a sentence if memory ran out. Takes no memory.
const char* WhatOf(const std::exception& error) noexcept;

// Guards an invariant of the program itself; what fails here is a bug, and the message says so.
void Check(bool holds, std::string_view what,
           std::source_location where = std::source_location::current());

// "cannot open FILE: No such file or directory", from errno.
[[noreturn]] void ThrowErrno(std::string_view what, std::string_view path);

// "cannot start a thread", with the limits of the user, the container and memory.
[[noreturn]] void ThrowNoThread(const std::system_error& error);

}  // namespace hogbatch
