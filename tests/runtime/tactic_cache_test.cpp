#include "runtime/tactic_cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "runtime/reference_backend.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

struct FakeDevice : ReferenceBackend {
  FakeDevice(std::string name, std::string version) : name_(std::move(name)), version_(std::move(version)) {}
  std::string device_name() const override { return name_; }
  std::string kernel_version() const override { return version_; }
  bool runs_on_threads() const override { return on_threads_; }
  std::string name_, version_;
  bool on_threads_ = false;
};

class TacticCache : public testing::Test {
 protected:
  TacticCache() { setenv("SACCADE_CACHE", folder_.string().c_str(), 1); }
  ~TacticCache() override { unsetenv("SACCADE_CACHE"); }
  test::TempFolder folder_;
};

TEST_F(TacticCache, KeepsWhatWasMeasuredOnADevice) {
  const FakeDevice device("a GPU, driver 1", "kernels 1");
  EXPECT_TRUE(cached_choices(device, 1).empty());
  cache_choices(device, 1, {{"conv", {"tiled", "16x8"}}, {"relu", {"elements", ""}}});
  cache_choices(device, 1, {{"conv", {"tiled", "32x8"}}});
  const TacticChoices wanted = {{"conv", {"tiled", "32x8"}}, {"relu", {"elements", ""}}};
  EXPECT_EQ(cached_choices(device, 1), wanted);
  EXPECT_TRUE(cached_choices(FakeDevice("a GPU, driver 2", "kernels 1"), 1).empty());
  EXPECT_TRUE(cached_choices(FakeDevice("a GPU, driver 1", "kernels 2"), 1).empty());
}

TEST_F(TacticCache, IsByThreadsWhereLaunchesRunOnThem) {
  FakeDevice device("a processor", "1");
  cache_choices(device, 1, {{"conv", {"tiled", ""}}});
  EXPECT_EQ(cached_choices(device, 2).size(), 1);
  device.on_threads_ = true;
  EXPECT_TRUE(cached_choices(device, 1).empty());
  cache_choices(device, 2, {{"conv", {"tiled", ""}}});
  EXPECT_TRUE(cached_choices(device, 1).empty());
  EXPECT_EQ(cached_choices(device, 2).size(), 1);
}

TEST_F(TacticCache, PassesOverADamagedFile) {
  const FakeDevice device("a GPU", "1");
  cache_choices(device, 1, {{"conv", {"tiled", "16x8"}}});
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "tactics"))
    std::ofstream(file.path()) << "{\"choices\": {\"conv\": 7}";
  EXPECT_TRUE(cached_choices(device, 1).empty());
}

TEST_F(TacticCache, RewritesADamagedFile) {
  const FakeDevice device("a GPU", "1");
  cache_choices(device, 1, {{"conv", {"tiled", "16x8"}}});
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "tactics"))
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(cached_choices(device, 1).empty());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is damaged"), std::string::npos);
  const TacticChoices choices = {{"conv", {"tiled", "32x8"}}};
  cache_choices(device, 1, choices);
  EXPECT_EQ(cached_choices(device, 1), choices);
}

TEST_F(TacticCache, SaysWhereItCannotBeWritten) {
  folder_.write("tactics", "a file where the folder should be");
  const FakeDevice device("a GPU", "1");
  testing::internal::CaptureStderr();
  cache_choices(device, 1, {{"conv", {"tiled", "16x8"}}});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("tuning will be repeated"), std::string::npos) << said;
  EXPECT_TRUE(cached_choices(device, 1).empty());
}

TEST_F(TacticCache, MayBeSwitchedOff) {
  setenv("SACCADE_CACHE", "", 1);
  const FakeDevice device("a GPU", "1");
  cache_choices(device, 1, {{"conv", {"tiled", "16x8"}}});
  EXPECT_TRUE(cached_choices(device, 1).empty());
}

}  // namespace
}  // namespace saccade
