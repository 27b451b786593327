#include "training/model/ensemble.h"

#include "core/error.h"
#include "nn/lanes/lanes.h"

namespace hogbatch {

SavedModel JoinMembers(std::span<const SavedModel> members) {
  Check(!members.empty(), "an ensemble has a member");
  SavedModel joined{.spec = members.front().spec, .schema = members.front().schema};
  joined.spec.lanes = std::ssize(members);
  joined.parameters.resize(Layout(joined.spec).floats);
  std::int64_t lane = 0;
  for (const SavedModel& member : members) {
    Check(member.spec == members.front().spec, "members of an ensemble have one shape");
    SetLane(joined.spec, lane++, member.parameters, joined.parameters);
  }
  return joined;
}

SavedModel MemberOf(const SavedModel& ensemble, std::int64_t member) {
  return {.spec = Alone(ensemble.spec),
          .schema = ensemble.schema,
          .parameters = LaneOf(ensemble.spec, ensemble.parameters, member)};
}

}  // namespace hogbatch
