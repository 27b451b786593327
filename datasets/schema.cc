#include "datasets/schema.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"

namespace hogbatch {
namespace {

template <typename Kind>
struct Named {
  std::string_view name;
  Kind kind;
};

constexpr std::array<Named<ScalingKind>, 5> kScalings{{
    {"auto", ScalingKind::kAuto},
    {"none", ScalingKind::kNone},
    {"minmax", ScalingKind::kMinMax},
    {"standard", ScalingKind::kStandard},
    {"maxabs", ScalingKind::kMaxAbs},
}};
constexpr std::array<Named<LabelKind>, 3> kLabelKinds{{
    {"class", LabelKind::kClass},
    {"multi-label", LabelKind::kMultiLabel},
    {"value", LabelKind::kValue},
}};

template <typename Table>
std::string_view NameIn(const Table& table, decltype(table[0].kind) kind) {
  for (const auto& entry : table) {
    if (entry.kind == kind) return entry.name;
  }
  return "?";
}

}  // namespace

ScalingKind ParseScaling(std::string_view name) {
  for (const auto& entry : kScalings) {
    if (entry.name == name) return entry.kind;
  }
  throw UserError(fmt::format(
      "'{}' is no scaling; choose auto, none, minmax, standard or maxabs with --scale", name));
}

LabelKind ParseLabelKind(std::string_view name) {
  for (const auto& entry : kLabelKinds) {
    if (entry.name == name) return entry.kind;
  }
  throw UserError(fmt::format("unknown kind of labels '{}'", name));
}

std::string_view Name(ScalingKind kind) { return NameIn(kScalings, kind); }

std::string_view Name(LabelKind kind) { return NameIn(kLabelKinds, kind); }

}  // namespace hogbatch
