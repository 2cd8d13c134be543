#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emulator_calls.hpp"
#include "media/isolated/isolated_reader.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "saccade/log.hpp"
#include "saccade/saccade.hpp"
#include "support/tiny_models.hpp"

// Frames that a child process has written, read by the GPU in the memory that both processes share.
namespace saccade {
namespace {

class CudaIsolated : public testing::Test {
 protected:
  static constexpr int kFrames = 12;
  static constexpr int kRefused = 801;  // CUDA_ERROR_NOT_SUPPORTED

  /// The messages of a run whose frames must have the results of their bytes, which are equal to their numbers.
  std::string run(const std::function<void()>& prepare = {}) {
    ModelOptions options;
    options.device = Device::cuda();
    const Model model = Model::load(test::write_color_classifier(folder_), options);
    const LogLevel level = log_level();
    set_log_level(LogLevel::kInfo);
    testing::internal::CaptureStderr();
    calls_.forget();
    if (prepare) prepare();
    {
      isolated::SourceSpec spec{.uri = "frames=" + std::to_string(kFrames), .images = {}, .options = {}};
      Pipeline pipeline(source_of(open_isolated(std::move(spec), SACCADE_CRASHING_SOURCE)), model);
      std::int64_t next = 0;
      for (const Result& result : pipeline) {
        EXPECT_EQ(result.frame, next);
        expect_confidence(result, static_cast<double>(next++) / 255);
      }
      EXPECT_EQ(next, kFrames);
    }
    set_log_level(level);
    return testing::internal::GetCapturedStderr();
  }

  test::TempFolder folder_;
  test::EmulatorCalls calls_;

 private:
  static void expect_confidence(const Result& result, double confidence) {
    ASSERT_FALSE(result.classes.empty());
    EXPECT_NEAR(result.classes[0].confidence, confidence, 1e-5);
  }
};

/// The position of the last NAME in CALLS; -1: there is none.
std::ptrdiff_t last_of(const std::vector<std::string>& calls, const char* name) {
  const auto found = std::ranges::find(calls.rbegin(), calls.rend(), name);
  return calls.rend() - found - 1;
}

TEST_F(CudaIsolated, TheSharedMemoryIsRegisteredForTheRun) {
  EXPECT_THAT(run(), testing::Not(testing::HasSubstr("can't be registered")));
  if (!calls_) return;
  const std::vector<std::string> calls = calls_.since();
  const auto registered = std::ranges::find(calls, "cuMemHostRegister_v2");
  EXPECT_LT(registered, std::ranges::find(calls, "cuGraphLaunch"));
  EXPECT_EQ(std::ranges::count(calls, "cuMemHostUnregister"), std::ranges::count(calls, "cuMemHostRegister_v2"));
  EXPECT_GT(last_of(calls, "cuMemHostUnregister"), last_of(calls, "cuGraphLaunch")) << "the GPU read it until then";
}

TEST_F(CudaIsolated, WithoutRegistrationFramesAreCopied) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver can refuse";
  const std::string told = run([this] { calls_.fail("cuMemHostRegister_v2", kRefused); });
  EXPECT_THAT(told, testing::HasSubstr("can't be registered with the GPU: they are copied once more"));
  const std::vector<std::string> calls = calls_.since();
  EXPECT_EQ(std::ranges::count(calls, "cuMemHostUnregister"), std::ranges::count(calls, "cuMemHostRegister_v2") - 1);
}

/// As on an integrated GPU, whose kernels can't read at the host's address.
TEST_F(CudaIsolated, MemoryThatKernelsCantReadIsUnregisteredAndCopied) {
  if (!calls_) GTEST_SKIP() << "only the emulated driver can refuse";
  const std::string told = run([this] { calls_.fail("cuMemHostGetDevicePointer_v2", kRefused); });
  EXPECT_THAT(told, testing::HasSubstr("can't be registered with the GPU: they are copied once more"));
  const std::vector<std::string> calls = calls_.since();
  EXPECT_EQ(std::ranges::count(calls, "cuMemHostUnregister"), std::ranges::count(calls, "cuMemHostRegister_v2"));
  EXPECT_LT(std::ranges::find(calls, "cuMemHostUnregister"), std::ranges::find(calls, "cuGraphLaunch"));
}

}  // namespace
}  // namespace saccade
