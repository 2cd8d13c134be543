#include <gtest/gtest.h>

#include <cstdlib>

#include "emulator_calls.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Error messages of the command when the driver, the device or its memory fails, each in a process of its own: the
// call, the node if there is one, and a remedy.
namespace saccade {
namespace {

class CudaErrors : public testing::Test {
 protected:
  CudaErrors() { setenv("SACCADE_CACHE", (folder_ / "cache").c_str(), 1); }
  ~CudaErrors() override {
    unsetenv("SACCADE_CACHE");
    unsetenv("SACCADE_EMULATOR_FAIL");
    unsetenv("SACCADE_EMULATOR_DRIVER");
  }
  void SetUp() override {
    if (!test::EmulatorCalls()) GTEST_SKIP() << "only the emulated driver can be made to fail";
  }

  /// The message of a failing run; FAILURE: call, successful calls before it, result ("cuInit:0:100").
  std::string said(const char* failure, const std::vector<std::string>& flags = {}) const {
    setenv("SACCADE_EMULATOR_FAIL", failure, 1);
    std::vector<std::string> command = {
        "infer", test::write_color_classifier(folder_), "--device", "cuda", "--output", folder_ / "out"};
    command.insert(command.end(), flags.begin(), flags.end());
    const test::Finished finished = test::run_saccade(command);
    EXPECT_EQ(finished.exit_code, 1) << finished.err;
    return finished.err;
  }
  static void expect_in(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }

  test::TempFolder folder_;
};

TEST_F(CudaErrors, SayWhatDriverIsNeeded) {
  setenv("SACCADE_EMULATOR_DRIVER", "11080", 1);
  expect_in(said(""), {"the CUDA driver is too old: it is for CUDA 11.8; install one for CUDA 12 or newer"});
}

TEST_F(CudaErrors, SayWhereToLookForDevices) {
  expect_in(said("cuInit:0:100"), {"cuInit failed with CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES", "--device cpu"});
  expect_in(said("cuInit:0:803"), {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "reboot"});
  expect_in(said("cuDevicePrimaryCtxRetain:0:46"),
            {"cuDevicePrimaryCtxRetain failed with CUDA_ERROR_DEVICE_UNAVAILABLE", "another process holds the device"});
}

TEST_F(CudaErrors, SayWhoseMemoryDoesNotFit) {
  expect_in(said("cuMemAlloc_v2:0:2"), {"color: ", "MB of device memory, of which",
                                        "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY", "choose a smaller batch"});
}

TEST_F(CudaErrors, SayThatTheProcessMustRestart) {
  for (const char* failure : {"cuStreamSynchronize:0:700", "cuStreamSynchronize:0:716", "cuStreamSynchronize:0:719"})
    expect_in(said(failure), {"cuStreamSynchronize failed with CUDA_ERROR_",
                              "the device can't be used by this process any more: start it again"});
}

TEST_F(CudaErrors, SayThatTheDeviceMayBeLost) {
  expect_in(said("cuGraphLaunch:0:999"), {"cuGraphLaunch failed with CUDA_ERROR_UNKNOWN", "the device may be lost"});
  expect_in(said("cuGraphLaunch:0:214"), {"CUDA_ERROR_ECC_UNCORRECTABLE", "it has to be reset or replaced"});
}

TEST_F(CudaErrors, NameTheNodeThatCannotBeLaunched) {
  expect_in(said("cuLaunchKernelEx:1:701", {"--no-graph"}),
            {"color: ", "node '", "cuLaunchKernelEx failed with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"});
}

}  // namespace
}  // namespace saccade
