#include "cli/device_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "cli/devices_report.h"
#include "core/error.h"
#include "tests/cli/offers.h"

namespace hogbatch {
namespace {

using gpu::Interface;
using testing::ElementsAre;
using testing::HasSubstr;

// A machine with what it offers, which counts how often each interface is asked.
struct FakeMachine {
  gpu::Offer cuda = NoCuda();
  gpu::Offer opencl = NoOpenCl();
  int asked_cuda = 0;
  int asked_opencl = 0;
  int cores = 2;

  std::vector<std::string> Choose(std::string_view devices, Purpose purpose = Purpose::kTraining) {
    const auto ask = [this](Interface interface) {
      ++(interface == Interface::kCuda ? asked_cuda : asked_opencl);
      return interface == Interface::kCuda ? cuda : opencl;
    };
    std::vector<std::string> names;
    for (const DeviceInfo& info : hogbatch::Choose(
             devices, {.processor = Processor(), .cores = cores, .ask = ask}, purpose)) {
      names.push_back(info.name);
    }
    return names;
  }

  std::string WhyNot(std::string_view devices) {
    try {
      Choose(devices);
    } catch (const UserError& error) {
      return error.what();
    }
    return "it was taken";
  }
};

// Two GPUs of NVIDIA's, the first of them through OpenCL, too, and PoCL.
FakeMachine TwoGpus() { return {.cuda = TwoCudas(), .opencl = SameGpuAndPocl()}; }

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

TEST(ChooseAlgorithm, AutoAdaptsAsSoonAsTwoKindsOfDeviceTrainTogether) {
  const std::vector<DeviceInfo> cores = {Processor(), Processor()};
  const std::vector<DeviceInfo> both = {Processor(), CudaGpu("cuda.0", "")};
  const std::vector<DeviceInfo> cudas = {CudaGpu("cuda.0", ""), CudaGpu("cuda.1", "")};
  const std::vector<DeviceInfo> gpus = {CudaGpu("cuda.0", ""), OpenClGpu("opencl.0", "AMD", "")};
  EXPECT_EQ(ChooseAlgorithm("auto", cores), "hogbatch");
  EXPECT_EQ(ChooseAlgorithm("auto", cudas), "hogbatch");
  EXPECT_EQ(ChooseAlgorithm("auto", both), "adaptive");
  EXPECT_EQ(ChooseAlgorithm("auto", gpus), "adaptive");
}

TEST(ChooseAlgorithm, LeavesTheUsersOwnChoice) {
  const std::vector<DeviceInfo> both = {Processor(), CudaGpu("cuda.0", "")};
  EXPECT_EQ(ChooseAlgorithm("sync", both), "sync");
}

DevicesReport ReportOf(const FakeMachine& machine) {
  return {.processor = Processor(), .cores = 2, .cuda = machine.cuda, .opencl = machine.opencl};
}

TEST(DevicesReport, SaysOfEveryDeviceWhatItIsAndWhetherAutoTakesIt) {
  const std::string text = DevicesText(ReportOf(TwoGpus()));
  EXPECT_THAT(text, HasSubstr("cpu       AMD EPYC, AVX2\n"
                              "          2 cores for this process, 16 GB of memory\n"));
  EXPECT_THAT(text, HasSubstr("cuda:1    NVIDIA A100\n"
                              "          40 GB of memory, PCI 0000:02:00.0\n"));
  EXPECT_THAT(text, HasSubstr("          only when it is named: it is cuda:0\n"));
  EXPECT_THAT(text, HasSubstr("          only when it is named: it is the processor\n"));
  EXPECT_THAT(text, HasSubstr("--devices auto takes cpu.0, cuda.0, cuda.1 to train, and cuda.0, "
                              "cuda.1 to eval\nand predict\n"));
}

TEST(DevicesReport, SaysOfADeviceThatCannotBeUsedWhy) {
  FakeMachine machine = TwoGpus();
  machine.cuda.devices.front().unusable = "it is too old";
  EXPECT_THAT(DevicesText(ReportOf(machine)),
              HasSubstr("          cannot be used: it is too old\n"));
}

TEST(DevicesReport, SaysOfAnInterfaceWithoutDevicesWhyAndWhatToDo) {
  const std::string text = DevicesText(ReportOf({}));
  EXPECT_THAT(text, HasSubstr("CUDA      none: no driver; install it\n"));
  EXPECT_THAT(text, HasSubstr("OpenCL    none: no OpenCL; install it\n"));
  EXPECT_THAT(text, HasSubstr("--devices auto takes cpu.0 to cpu.1\n"));
}

TEST(DevicesReport, ClaimsNoMoreThanWasRun) {
  const std::string text = DevicesText(ReportOf(TwoGpus()));
  EXPECT_THAT(text, HasSubstr("CUDA was tested on a host stand-in only, never on a real GPU."));
  EXPECT_THAT(text, HasSubstr("OpenCL was tested on processors through PoCL only, never"));
}

TEST(DevicesReport, FitsATerminalOf80Columns) {
  FakeMachine machine = TwoGpus();
  std::string words;
  for (int i = 0; i < 60; ++i) words += fmt::format("word{} ", i);
  machine.cuda.devices[0].description = words;
  machine.opencl = NoOpenCl();
  machine.opencl.why_none = words;
  const std::string text = DevicesText(ReportOf(machine));
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
  }
  EXPECT_THAT(text, HasSubstr("\n          word"));
}

TEST(DevicesReport, IsWholeInJsonWhateverBytesADriverGives) {
  FakeMachine machine = TwoGpus();
  machine.cuda.devices[0].description = "\xff\xfe GPU";
  machine.opencl = NoOpenCl();
  const std::string json = DevicesJson(ReportOf(machine));
  for (const char* part :
       {"\"name\": \"cuda.1\"", "\"option\": \"cuda:1\"", "\"hardware\": \"0000:02:00.0\"",
        "\"memory_bytes\": 40000000000", "\"auto\": [\n    \"cpu.0\",\n    \"cuda.0\"",
        "\"auto_inference\": [\n    \"cuda.0\"", "\"why_none\": \"no OpenCL; install it\"",
        "\"proven_on\": \"a host stand-in only, never on a real GPU\""}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

}  // namespace
}  // namespace hogbatch
