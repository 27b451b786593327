// Walks over what an object must keep in a checkpoint. The same VisitState both writes the state of
// an object and restores it, so that the two cannot disagree.
//
//   void Job::VisitState(StateVisitor& visitor) {
//     Visit(visitor, "examples", examples_);
//     Visit(visitor, "cursor", cursor_);  // has a VisitState of its own
//   }
//
// tests/state.py fails if a class with a VisitState has a member that it neither visits nor names
// in a comment "not state: …".
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.h"

namespace hogbatch {

class StateVisitor {
 public:
  virtual ~StateVisitor() = default;

  // Writes the value, or sets it. A restoring visitor throws UserError for a value that is missing
  // or of another type.
  virtual void Number(std::string_view name, std::int64_t& value) = 0;
  virtual void Number(std::string_view name, double& value) = 0;  // may be infinite
  virtual void Flag(std::string_view name, bool& value) = 0;
  virtual void Text(std::string_view name, std::string& value) = 0;

  // What is visited until End belongs to `name`.
  virtual void Begin(std::string_view name) = 0;
  // A list of elements, each between Begin("") and End. Returns how many there are: `size` itself,
  // or as many as were written.
  virtual std::size_t BeginList(std::string_view name, std::size_t size) = 0;
  virtual void End() = 0;
};

// For restored values that would lead astray. Throws UserError.
inline void RequireState(bool holds, std::string_view name) {
  if (!holds) throw UserError("the checkpoint is damaged: '" + std::string(name) + "' is wrong");
}

template <typename T>
concept HasState = requires(T& value, StateVisitor& visitor) { value.VisitState(visitor); };

template <HasState T>
void Visit(StateVisitor& visitor, std::string_view name, T& value) {
  visitor.Begin(name);
  value.VisitState(visitor);
  visitor.End();
}

inline void Visit(StateVisitor& visitor, std::string_view name, bool& value) {
  visitor.Flag(name, value);
}
inline void Visit(StateVisitor& visitor, std::string_view name, std::string& value) {
  visitor.Text(name, value);
}
inline void Visit(StateVisitor& visitor, std::string_view name, double& value) {
  visitor.Number(name, value);
}

template <typename T>
  requires(std::integral<T> || std::is_enum_v<T>)
void Visit(StateVisitor& visitor, std::string_view name, T& value) {
  auto number = static_cast<std::int64_t>(value);
  visitor.Number(name, number);
  value = static_cast<T>(number);
  RequireState(static_cast<std::int64_t>(value) == number, name);  // it fits
}

template <typename T>
void Visit(StateVisitor& visitor, std::string_view name, std::optional<T>& value) {
  const std::size_t count = visitor.BeginList(name, value ? 1 : 0);
  if (count == 0) value.reset();
  if (count > 0) {
    if (!value) value.emplace();
    visitor.Begin("");
    Visit(visitor, "value", *value);
    visitor.End();
  }
  visitor.End();
}

// An element of a list.
template <typename Item>
void VisitItem(StateVisitor& visitor, Item& item) {
  if constexpr (HasState<Item>) {
    item.VisitState(visitor);
  } else {
    Visit(visitor, "value", item);
  }
}

// All elements of the list that was begun.
template <typename Items>
void VisitItems(StateVisitor& visitor, Items& items) {
  for (auto& item : items) {
    visitor.Begin("");
    VisitItem(visitor, item);
    visitor.End();
  }
  visitor.End();
}

// Any container that has resize. `visit` visits an element. A restored list grows as its elements
// are read, so that a checkpoint which only claims to have many takes no memory for them.
template <typename Container, typename VisitOne>
void VisitList(StateVisitor& visitor, std::string_view name, Container& items,
               const VisitOne& visit) {
  const std::size_t count = visitor.BeginList(name, items.size());
  if (count < items.size()) items.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    visitor.Begin("");
    if (i == items.size()) items.resize(i + 1);
    visit(*(items.begin() + static_cast<std::ptrdiff_t>(i)));
    visitor.End();
  }
  visitor.End();
}

template <typename T, std::size_t kSize>
void Visit(StateVisitor& visitor, std::string_view name, std::array<T, kSize>& items) {
  if (visitor.BeginList(name, kSize) != kSize) {
    throw UserError(std::string(name) + " has another length in the checkpoint");
  }
  VisitItems(visitor, items);
}

// Any container that has resize: vector, deque, IndexedVector.
template <typename Container>
  requires(requires(Container& c) { c.resize(c.size()); } && !std::same_as<Container, std::string>)
void Visit(StateVisitor& visitor, std::string_view name, Container& items) {
  VisitList(visitor, name, items, [&](auto& item) { VisitItem(visitor, item); });
}

}  // namespace hogbatch
