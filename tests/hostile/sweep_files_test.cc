// The records of a sweep, made to break --resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/hostile/refused.h"

namespace hogbatch {
namespace {

using Json = nlohmann::ordered_json;

class HostileSweep : public testing::Test {
 protected:
  HostileSweep() {
    folder_.Write("rows", TwoClasses(60));
    const Finished made =
        RunProgram({"sweep", "rows", "--lr", "0.1|0.2", "--hidden", "2", "--epochs", "1",
                    "--devices", "cpu:1", "--out", "s", "--quiet"},
                   folder_.path());
    EXPECT_EQ(made.exit_code, 0) << made.err;
    sweep_ = Json::parse(folder_.Read("s/sweep.json"));
    trials_ = folder_.Read("s/trials.jsonl");
  }

  Finished Resume() { return RunProgram({"sweep", "--resume", "s", "--quiet"}, folder_.path()); }

  // With another value of a member.
  void ExpectRefusedWith(const std::string& part, const std::string& name, const Json& value,
                         const std::string& gist) {
    Json bad = sweep_;
    (part.empty() ? bad : bad[part])[name] = value;
    folder_.Write("s/sweep.json", bad.dump());
    SCOPED_TRACE(name + " " + value.dump());
    ExpectRefused(Resume(), gist);
  }

  TemporaryFolder folder_;
  Json sweep_;
  std::string trials_;
};

TEST_F(HostileSweep, IsRefusedWithAReason) {
  const std::string damaged = "sweep.json is damaged";
  for (const auto& [name, text] :
       std::initializer_list<std::pair<const char*, const char*>>{{"trials", "1000000000000000000"},
                                                                  {"trials", "many"},
                                                                  {"eta", "1"},
                                                                  {"eta", "nan"},
                                                                  {"min-epochs", "0"},
                                                                  {"ensemble", "10000000000"},
                                                                  {"folds", "-1"},
                                                                  {"search", "guess"},
                                                                  {"unknown", "1"}}) {
    ExpectRefusedWith("search", name, text, damaged);
  }
  ExpectRefusedWith("search", "trials", 5, damaged);
  ExpectRefusedWith("", "format", 1e300, damaged);
  ExpectRefusedWith("", "format", 99, "newer hogbatch");
  ExpectRefusedWith("", "seconds", "soon", damaged);
  ExpectRefusedWith("", "best_trial", 1e18, damaged);
  ExpectRefusedWith("", "best_trial", 3, damaged);
  for (const std::string& text : {std::string(), std::string(100000, '['), std::string("{}"),
                                  WithAMillionKeys(sweep_.dump())}) {
    folder_.Write("s/sweep.json", text);
    ExpectRefused(Resume(), damaged);
  }
}

TEST_F(HostileSweep, IsRefusedWithResultsOfAnother) {
  Json one = Json::parse(trials_.substr(0, trials_.find('\n')));
  const std::string other = trials_.substr(trials_.find('\n'));
  const auto refused_with = [&](const char* name, const Json& value) {
    Json bad = one;
    bad[name] = value;
    folder_.Write("s/trials.jsonl", bad.dump() + other);
    SCOPED_TRACE(name);
    ExpectRefused(Resume(), "trials.jsonl is damaged");
  };
  refused_with("rung_losses", {1, 2, 3});
  refused_with("examples", 1e300);
  refused_with("epoch", -1);
  refused_with("state", "asleep");
  refused_with("curve", {{{"epoch", "1"}}});
  folder_.Write("s/trials.jsonl", WithAMillionKeys(one.dump()) + other);
  ExpectRefused(Resume(), "trials.jsonl is damaged");
  folder_.Write("s/trials.jsonl", trials_ + trials_);
  ExpectRefused(Resume(), "trials.jsonl is damaged");
}

}  // namespace
}  // namespace hogbatch
