#include "training/devices/device_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/support/fake_machine.h"

namespace hogbatch {
namespace {

using gpu::Interface;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Devices, AutoTakesTheCoresWhereThereIsNoGpu) {
  EXPECT_THAT(FakeMachine().Choose("auto"), ElementsAre("cpu.0", "cpu.1"));
}

TEST(Devices, AutoTakesEveryGpuOnceThroughCudaAndNoProcessorThatPosesAsOne) {
  EXPECT_THAT(TwoGpus().Choose("auto"), ElementsAre("cpu.0", "cuda.0", "cuda.1"));
}

TEST(Devices, AutoAndCpuLeaveACoreToFeedTheGpusButNeverTheLastOne) {
  FakeMachine machine = TwoGpus();
  machine.cores = 4;
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "cpu.1", "cpu.2", "cuda.0", "cuda.1"));
  EXPECT_THAT(machine.Choose("cuda:0,cpu"), ElementsAre("cuda.0", "cpu.0", "cpu.1", "cpu.2"));
  EXPECT_THAT(machine.Choose("cpu,cuda:0"), ElementsAre("cpu.0", "cpu.1", "cpu.2", "cuda.0"));
  EXPECT_THAT(machine.Choose("cpu"), ElementsAre("cpu.0", "cpu.1", "cpu.2", "cpu.3"));
  machine.cores = 1;
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "cuda.0", "cuda.1"));
  EXPECT_THAT(machine.Choose("cpu,cuda:1"), ElementsAre("cpu.0", "cuda.1"));
}

TEST(Devices, CoresThatAreCountedOutAreTakenLiterally) {
  EXPECT_THAT(TwoGpus().Choose("cpu:2,cuda:0"), ElementsAre("cpu.0", "cpu.1", "cuda.0"));
  EXPECT_THAT(TwoGpus().Choose("cuda:0,cpu:3"), ElementsAre("cuda.0", "cpu.0", "cpu.1", "cpu.2"));
}

TEST(Devices, AutoInfersOnTheGpusAloneAndOnAllCoresWhereThereAreNone) {
  EXPECT_THAT(TwoGpus().Choose("auto", Purpose::kInference), ElementsAre("cuda.0", "cuda.1"));
  EXPECT_THAT(FakeMachine().Choose("auto", Purpose::kInference), ElementsAre("cpu.0", "cpu.1"));
  EXPECT_THAT(TwoGpus().Choose("cpu,cuda:1", Purpose::kInference), ElementsAre("cpu.0", "cuda.1"));
}

TEST(Devices, AutoTakesTheCoresRatherThanAProcessorBehindOpenCl) {
  FakeMachine machine;
  machine.opencl = OpenCls({Pocl("opencl.0")});
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "cpu.1"));
}

TEST(Devices, AutoTakesAGpuThatOnlyOpenClSees) {
  FakeMachine machine = TwoGpus();
  machine.opencl = OpenCls({OpenClGpu("opencl.0", "NVIDIA A100, NVIDIA CUDA", "0000:01:00.0"),
                            OpenClGpu("opencl.1", "gfx90a, AMD", "0000:09:00.0")});
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "cuda.0", "cuda.1", "opencl.1"));
}

TEST(Devices, AutoTakesOneOfTwoOpenClDriversOfOneGpu) {
  FakeMachine machine;
  machine.opencl = OpenCls({OpenClGpu("opencl.0", "gfx90a, AMD", "0000:09:00.0"),
                            OpenClGpu("opencl.1", "gfx90a, rusticl", "0000:09:00.0")});
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "opencl.0"));
}

TEST(Devices, AutoTakesNvidiasGpuOfUnknownPlaceThroughCudaWhereCudaHasDevices) {
  FakeMachine machine = TwoGpus();
  machine.opencl = OpenCls({OpenClGpu("opencl.0", "A100, NVIDIA CUDA", ""),
                            OpenClGpu("opencl.1", "Arc A770, Intel OpenCL", "")});
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "cuda.0", "cuda.1", "opencl.1"));
  machine.cuda = NoCuda();
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "opencl.0", "opencl.1"));
}

TEST(Devices, AutoPassesByAGpuThatCannotBeUsed) {
  FakeMachine machine = TwoGpus();
  for (DeviceInfo& info : machine.cuda.devices) info.unusable = "it is too old";
  EXPECT_THAT(machine.Choose("auto"),
              ElementsAre("cpu.0", "opencl.0"));  // the same GPU, where it works
  machine.opencl.devices.front().unusable = "it has no compiler";
  EXPECT_THAT(machine.Choose("auto"), ElementsAre("cpu.0", "cpu.1"));
}

TEST(Devices, AListIsTakenInItsOrder) {
  EXPECT_THAT(TwoGpus().Choose("cuda:1,opencl:1,cpu:3"),
              ElementsAre("cuda.1", "opencl.1", "cpu.0", "cpu.1", "cpu.2"));
  EXPECT_THAT(TwoGpus().Choose("cuda:*, opencl:0"), ElementsAre("cuda.0", "cuda.1", "opencl.0"));
}

TEST(Devices, WhatIsNotNamedIsNotAsked) {
  FakeMachine machine = TwoGpus();
  machine.Choose("cpu");
  machine.Choose("cpu:7");
  EXPECT_EQ(machine.asked_cuda + machine.asked_opencl, 0);
  machine.Choose("cuda:0,cuda:1");
  EXPECT_EQ(machine.asked_cuda, 1);
  EXPECT_EQ(machine.asked_opencl, 0);
}

TEST(Devices, NamedTwiceAreRefused) {
  EXPECT_EQ(TwoGpus().WhyNot("cuda:0,cuda:0"), "--devices names cuda:0 twice");
  EXPECT_EQ(TwoGpus().WhyNot("cuda:1,cuda:*"), "--devices names cuda:1 twice");
  EXPECT_EQ(TwoGpus().WhyNot("auto,cuda:0"), "--devices names cuda:0 twice");
  EXPECT_EQ(TwoGpus().WhyNot("cpu,cuda:0,cpu:1"), "--devices names cpu twice");
}

TEST(Devices, ThatAreAbsentAreRefusedWithThoseThatArePresent) {
  EXPECT_EQ(TwoGpus().WhyNot("cuda:2"),
            "there is no cuda:2 here, only cpu, cuda:0, cuda:1, opencl:0 and opencl:1");
  FakeMachine machine = TwoGpus();
  machine.cuda = NoCuda();
  EXPECT_EQ(machine.WhyNot("cuda:0"),
            "there is no cuda:0 here, only cpu, opencl:0 and opencl:1: no driver; install it");
  EXPECT_EQ(FakeMachine().WhyNot("opencl:*"),
            "there is no opencl:* here, only cpu: no OpenCL; install it");
}

struct Misnamed {
  const char* devices;
  const char* gist;
  friend void PrintTo(const Misnamed& one, std::ostream* out) { *out << one.devices; }
};

class MisnamedDevices : public testing::TestWithParam<Misnamed> {};

TEST_P(MisnamedDevices, AreRefusedWithWhatWasMeant) {
  EXPECT_THAT(TwoGpus().WhyNot(GetParam().devices), HasSubstr(GetParam().gist));
}

INSTANTIATE_TEST_SUITE_P(
    Devices, MisnamedDevices,
    testing::Values(
        Misnamed{"gpu", "by its interface, such as cuda:0 or opencl:0, not 'gpu'"},
        Misnamed{"GPU:0", "by its interface, such as cuda:0 or opencl:0, not 'GPU:0'"},
        Misnamed{"nvidia:0", "by its interface"},
        Misnamed{"cuda",
                 "a device's number, counted from 0, or * for all of them; did "
                 "you mean cuda:*?"},
        Misnamed{"cuda:", "did you mean cuda:0?"},
        Misnamed{"cuda:x", "not 'x'; did you mean cuda:0?"}, Misnamed{"cuda:0x1", "not '0x1'"},
        Misnamed{"cuda:**", "not '**'"}, Misnamed{"opencl:-1", "not '-1'; did you mean opencl:0?"},
        Misnamed{"cuda:99999999999999999999", "a device's number"},
        Misnamed{"cuda.1", "not 'cuda.1'; did you mean cuda:1?"},
        Misnamed{"CUDA:1", "did you mean cuda:1?"}, Misnamed{"cude:*", "did you mean cuda:*?"},
        Misnamed{"opncl:0", "did you mean opencl:0?"}, Misnamed{"cpu4", "did you mean cpu:4?"},
        Misnamed{"CPU", "did you mean cpu?"}, Misnamed{"atuo", "did you mean auto?"},
        Misnamed{"cuda:0;cuda:1", "not '0;cuda:1'"}, Misnamed{"tpu:0:1", "not 'tpu:0:1'"},
        Misnamed{"", "a name is missing in ''"},
        Misnamed{"cuda:0,", "a name is missing in 'cuda:0,'"},
        Misnamed{"cpu:", "--devices cpu:N needs a whole number"},
        Misnamed{"cpu:*", "--devices cpu:N needs a whole number"},
        Misnamed{"cpu:1025", "between 1 and 1024"}));

TEST(CoresLeftToOpenCl, AreThoseThatNoWorkerTakesAndOneAtLeast) {
  EXPECT_EQ(CoresLeftToOpenCl("cpu:1,opencl:0", 2), 1);
  EXPECT_EQ(CoresLeftToOpenCl("opencl:0, cpu:3", 8), 5);
  EXPECT_EQ(CoresLeftToOpenCl("cpu:8,opencl:*", 8), 1);
  EXPECT_EQ(CoresLeftToOpenCl("cpu,opencl:0", 8), 1);
}

TEST(CoresLeftToOpenCl, AreAllWhereNothingIsShared) {
  EXPECT_EQ(CoresLeftToOpenCl("auto", 8), 8);
  EXPECT_EQ(CoresLeftToOpenCl("opencl:0", 8), 8);
  EXPECT_EQ(CoresLeftToOpenCl("cpu:4,cuda:0", 8), 8);
}

}  // namespace
}  // namespace hogbatch
