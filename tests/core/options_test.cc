#include <gtest/gtest.h>

#include <string>

#include "core/any_options.h"
#include "core/error.h"
#include "core/option_checks.h"
#include "core/option_values.h"

namespace hogbatch {
namespace {

struct Some {
  double rate = 2;
  bool quiet = false;
  std::string kind = "plain";
  std::string varied = "1";

  void Visit(OptionVisitor& visitor) {
    visitor.Number("rate", rate, {1, 3}, "");
    visitor.Flag("quiet", quiet, "");
    visitor.Word("kind", kind, {{"plain", "fancy"}}, "");
    visitor.Checked(
        "varied", varied, {},
        [](std::string_view text) {
          if (text.empty()) throw UserError("--varied is empty");
        },
        "");
  }
};

OptionTexts TextsIn(AnyOptions options) {
  return TextsOf([&](OptionVisitor& all) { options.Visit(all); });
}

void Set(AnyOptions& options, std::string_view name, std::string_view text) {
  SetOption([&](OptionVisitor& all) { options.Visit(all); }, name, text);
}

std::string ErrorOf(std::string_view name, std::string_view text) {
  AnyOptions options = Some();
  try {
    Set(options, name, text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(AnyOptions, HoldAStructAndShowItsOptions) {
  AnyOptions options = Some{.rate = 3};
  EXPECT_EQ(options.as<Some>().rate, 3);
  Set(options, "quiet", "true");
  EXPECT_TRUE(options.as<Some>().quiet);
  EXPECT_EQ(TextsIn(options).size(), 4u);
}

TEST(AnyOptions, AreTheDefaultsWhereThereAreNone) {
  EXPECT_TRUE(TextsIn({}).empty());
  EXPECT_EQ(AnyOptions().as<Some>().rate, 2);
}

TEST(AnyOptions, CopiesChangeByThemselves) {
  const AnyOptions first = Some();
  AnyOptions second = first;
  Set(second, "kind", "fancy");
  EXPECT_EQ(first.as<Some>().kind, "plain");
  EXPECT_EQ(Changed(TextsIn(second), TextsIn(first)), (OptionTexts{{"kind", "fancy"}}));
}

TEST(SetOption, SaysWhatIsWrongWithANameOrAValue) {
  EXPECT_EQ(ErrorOf("rate", "1.5"), "");
  EXPECT_EQ(ErrorOf("rate", "4"), "--rate must be between 1 and 3, not 4");
  EXPECT_EQ(ErrorOf("quiet", "yes"), "--quiet takes true or false, not 'yes'");
  EXPECT_EQ(ErrorOf("kind", "fancier"),
            "--kind takes plain, fancy, not 'fancier'; did you mean fancy?");
  EXPECT_EQ(ErrorOf("varied", ""), "--varied is empty");
  EXPECT_EQ(ErrorOf("quite", "true"), "unknown option quite; did you mean quiet?");
}

}  // namespace
}  // namespace hogbatch
