#include "nn/model_spec.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace hogbatch {
namespace {

template <typename F>
std::string MessageOfUserError(F f) {
  try {
    f();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no UserError";
}

TEST(Layout, AlignsEveryWeightAndBiasTo64Bytes) {
  const ModelSpec spec{.inputs = 7, .hidden = {9, 33, 1}, .outputs = 3};
  const ParameterLayout layout = Layout(spec);
  ASSERT_EQ(layout.layers.size(), 4u);
  std::int64_t free_from = 0;
  for (const LayerShape& shape : layout.layers) {
    EXPECT_EQ(shape.weights_at % 16, 0);
    EXPECT_EQ(shape.bias_at % 16, 0);
    EXPECT_GE(shape.weights_at, free_from);
    EXPECT_GE(shape.bias_at, shape.weights_at + shape.in * shape.out);
    free_from = shape.bias_at + shape.out;
  }
  EXPECT_GE(layout.floats, free_from);
  EXPECT_EQ(layout.floats % 16, 0);
  EXPECT_EQ(layout.parameters, 7 * 9 + 9 + 9 * 33 + 33 + 33 + 1 + 3 + 3);
}

TEST(Layout, GivesTheActivationToHiddenLayersOnly) {
  const ModelSpec spec{
      .inputs = 2, .hidden = {3, 4}, .outputs = 5, .activation = Activation::kGelu};
  const ParameterLayout layout = Layout(spec);
  EXPECT_EQ(layout.layers[0].activation, Activation::kGelu);
  EXPECT_EQ(layout.layers[1].activation, Activation::kGelu);
  EXPECT_EQ(layout.layers[2].activation, Activation::kIdentity);
}

TEST(Layout, RefusesSizesThatCannotBeAddressedAndSaysThem) {
  const std::int64_t big = std::int64_t{1} << 31;
  const auto message = [](const ModelSpec& spec) {
    return MessageOfUserError([&] { Layout(spec); });
  };
  EXPECT_NE(
      message({.inputs = big, .hidden = {big}, .outputs = 2}).find("2147483648 -> 2147483648 -> 2"),
      std::string::npos);
  EXPECT_NE(message({.inputs = big + 1, .hidden = {}, .outputs = 2}).find("not 2147483649"),
            std::string::npos);
  EXPECT_NE(message({.inputs = 5, .hidden = {0}, .outputs = 2}).find("5 -> 0 -> 2"),
            std::string::npos);
  EXPECT_NE(message({.inputs = 5, .hidden = {INT64_MAX}, .outputs = 2}).find("width of a layer"),
            std::string::npos);
  EXPECT_NE(message({.inputs = 5, .hidden = {}, .outputs = -1}).find("outputs"), std::string::npos);
  EXPECT_EQ(Layout({.inputs = big, .hidden = {1}, .outputs = 1}).parameters, big + 3);
}

TEST(Names, ParseToWhatTheyName) {
  for (const Activation f : {Activation::kIdentity, Activation::kSigmoid, Activation::kTanh,
                             Activation::kRelu, Activation::kGelu}) {
    EXPECT_EQ(ParseActivation(Name(f)), f);
  }
  for (const Loss loss : {Loss::kSoftmax, Loss::kSigmoid, Loss::kSquared}) {
    EXPECT_EQ(ParseLoss(Name(loss)), loss);
  }
}

TEST(Names, UnknownOnesListTheChoices) {
  EXPECT_EQ(MessageOfUserError([] { ParseLoss("hinge"); }),
            "unknown loss 'hinge': choose one of softmax, sigmoid, squared");
  EXPECT_NE(MessageOfUserError([] { ParseActivation("ReLU"); }).find("relu, sigmoid, tanh, gelu"),
            std::string::npos);
}

TEST(Names, ThatAUserMayChooseBeginWithTheDefault) {
  EXPECT_EQ(ActivationWords().words, (std::vector<std::string>{"relu", "sigmoid", "tanh", "gelu"}));
  EXPECT_EQ(ParseActivation(ActivationWords().words.front()), ModelSpec{}.activation);
  EXPECT_EQ(LossWords().words, (std::vector<std::string>{"softmax", "sigmoid", "squared"}));
}

}  // namespace
}  // namespace hogbatch
