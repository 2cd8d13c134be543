#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emulator_calls.hpp"
#include "runtime/cuda_backend.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// What telemetry reports about the GPU. The emulated NVML tells constant numbers.
namespace saccade {
namespace {

using nlohmann::json;

class GpuTelemetry : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::EmulatorCalls()) GTEST_SKIP() << "only the emulated GPU's numbers are known";
  }

  /// "gpu" of the first line of a run on DEVICE, with the environment variable NAME.
  json gpu_of_run(const std::string& device, const char* name = "SACCADE_NOTHING", const std::string& value = "") {
    const std::string before = getenv(name) == nullptr ? "" : getenv(name);
    setenv(name, value.c_str(), 1);
    const test::Finished finished = test::run_saccade(
        {"run", test::write_box_detector(folder_), "--device", device, "--source", "synthetic:?size=64x48&fps=10",
         "--realtime", "--duration", "1.5", "--no-save", "--quiet", "--telemetry", "-"});
    setenv(name, before.c_str(), 1);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::istringstream lines(finished.out);
    std::string first;
    EXPECT_TRUE(std::getline(lines, first)) << finished.err;
    const json line = json::parse(first, nullptr, false);
    if (line.contains("gpus")) return line["gpus"];
    return line.contains("gpu") ? line["gpu"] : json("none");
  }

  test::TempFolder folder_;
};

TEST_F(GpuTelemetry, AMonitorReadsNvml) {
  const GpuState state = monitor_gpu(0)->read();
  EXPECT_EQ(state.use, 0.25);
  EXPECT_EQ(state.memory_bytes, 3LL << 30);
  EXPECT_EQ(state.watts, 71.5);
}

TEST_F(GpuTelemetry, ALineHasTheGpuOfTheRun) {
  EXPECT_EQ(gpu_of_run("cuda"), json({{"use", 0.25}, {"memory_bytes", 3LL << 30}, {"watts", 71.5}}));
  EXPECT_EQ(gpu_of_run("cpu"), "none");
}

TEST_F(GpuTelemetry, ALineHasEachOfSeveral) {
  const json known = {{"use", 0.25}, {"memory_bytes", 3LL << 30}, {"watts", 71.5}};
  json first = known;
  json second = known;
  first["device"] = "cuda";
  second["device"] = "cuda:1";
  EXPECT_EQ(gpu_of_run("cuda:0,cuda:1"), json({first, second}));
}

TEST_F(GpuTelemetry, WhatIsUnknownIsNull) {
  const json unknown = {{"use", nullptr}, {"memory_bytes", nullptr}, {"watts", nullptr}};
  EXPECT_EQ(gpu_of_run("cuda", "SACCADE_EMULATOR_FAIL", "nvmlInit_v2:0:9"), unknown) << "it does not start";
  EXPECT_EQ(gpu_of_run("cuda", "SACCADE_EMULATOR_FAIL", "nvmlDeviceGetHandleByPciBusId_v2:0:6"), unknown);
  // The first query is the monitor's own.
  EXPECT_EQ(gpu_of_run("cuda", "SACCADE_EMULATOR_FAIL", "nvmlDeviceGetPowerUsage:1:3"),
            json({{"use", 0.25}, {"memory_bytes", 3LL << 30}, {"watts", nullptr}}))
      << "this GPU does not support it";
}

TEST_F(GpuTelemetry, NvmlNeedNotBeInstalled) {
  const std::string libraries = getenv("LD_LIBRARY_PATH");
  const std::filesystem::path emulator = libraries.substr(0, libraries.find(':'));
  for (const char* name : {"libcuda.so.1", "libnvrtc.so.13"})
    std::filesystem::create_symlink(emulator / name, folder_ / name);
  EXPECT_EQ(gpu_of_run("cuda", "LD_LIBRARY_PATH", folder_ / ""),
            json({{"use", nullptr}, {"memory_bytes", nullptr}, {"watts", nullptr}}));
}

}  // namespace
}  // namespace saccade
