#include "cli/reports/devices_report.h"

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

DevicesReport ReportOf(const FakeMachine& machine) {
  return {.processor = Processor(), .cores = 2, .cuda = machine.cuda, .opencl = machine.opencl};
}

TEST(DevicesReport, SaysOfEveryDeviceWhatItIsAndWhetherAutoTakesIt) {
  const std::string text = DevicesText(ReportOf(TwoGpus()));
  EXPECT_THAT(text, HasSubstr("cpu       AMD EPYC, AVX2\n"
                              "          2 cores for this process, 16 GB of memory\n"));
  EXPECT_THAT(text, HasSubstr("cuda:1    NVIDIA A100\n"
                              "          40 GB of memory, PCI 0000:02:00.0\n"));
  EXPECT_THAT(text, HasSubstr("          used only if it is named: it is cuda:0\n"));
  EXPECT_THAT(text, HasSubstr("          used only if it is named: it is the processor\n"));
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
