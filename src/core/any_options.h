// Options of a type that only their owner knows: any struct with a Visit.
#pragma once

#include <any>
#include <concepts>
#include <utility>

#include "core/error.h"
#include "core/options.h"

namespace hogbatch {

class AnyOptions {
 public:
  AnyOptions() = default;  // no options
  template <typename T>
    requires(!std::same_as<T, AnyOptions> &&
             requires(T& options, OptionVisitor& visitor) { options.Visit(visitor); })
  AnyOptions(T options)  // implicit: it stands for a struct of options
      : options_(std::move(options)), visit_([](std::any& all, OptionVisitor& visitor) {
          std::any_cast<T&>(all).Visit(visitor);
        }) {}

  void Visit(OptionVisitor& visitor) {
    if (visit_ != nullptr) visit_(options_, visitor);
  }

  // The struct; its defaults if there are no options.
  template <typename T>
  T as() const {
    if (!options_.has_value()) return T();
    const T* const options = std::any_cast<T>(&options_);
    Check(options != nullptr, "options are read as what they are");
    return *options;
  }

 private:
  std::any options_;
  void (*visit_)(std::any&, OptionVisitor&) = nullptr;
};

}  // namespace hogbatch
