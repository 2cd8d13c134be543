#include "run_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "apps/command_fixture.hpp"

namespace saccade {
namespace {

using app::RunFaults;

class RunFaultsTest : public testing::Test {
 protected:
  static std::string logged(const std::function<void()>& act) {
    testing::internal::CaptureStderr();
    act();
    return testing::internal::GetCapturedStderr();
  }

  Failure lost_{Status::kLost, "a: unplugged"};
};

TEST_F(RunFaultsTest, WarnOnceTheRunGoesOn) {
  RunFaults faults(std::chrono::hours(1));
  const auto update = [&](bool has_result) { return logged([&] { faults.update(has_result); }); };
  EXPECT_EQ(logged([&] { faults.add(lost_); }), "") << "the run may end with it";
  EXPECT_EQ(update(false), "");
  EXPECT_NE(update(true).find("warning: a: unplugged\n"), std::string::npos);
  EXPECT_EQ(update(true), "") << "once";
  EXPECT_EQ(faults.first(), "a: unplugged");
}

TEST_F(RunFaultsTest, WarnInTimeWithoutResults) {
  RunFaults faults(std::chrono::seconds(0));
  faults.add(lost_);
  EXPECT_NE(logged([&] { faults.update(false); }).find("a: unplugged"), std::string::npos);
}

TEST_F(RunFaultsTest, WarnOfTheFirstFailedFrameOfEachSource) {
  RunFaults faults;
  for (const char* message : {"a, frame 3: net: why", "a, frame 4: net: why, frame 4", "b, frame 1: net: other"})
    faults.add({Status::kFailed, message});
  const std::string text = logged([&] { faults.update(true); });
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_NE(text.find("a, frame 3: net: why; further"), std::string::npos) << text;
  EXPECT_NE(text.find("b, frame 1: net: other; further"), std::string::npos) << text;
  EXPECT_EQ(faults.first(), "a, frame 3: net: why");
}

TEST_F(RunFaultsTest, TheEndIsNoWarning) {
  RunFaults faults;
  faults.add({Status::kEnd, ""});
  EXPECT_EQ(logged([&] { faults.update(true); }), "");
  EXPECT_EQ(faults.first(), "");
}

class LostSource : public test::CommandTest {};

TEST_F(LostSource, IsAWarningWhileOthersGoOn) {
  std::filesystem::create_directory(folder_ / "broken");
  folder_.write("broken/a.png", "not an image");
  const auto run = [&](std::vector<std::string> sources) {
    sources.insert(sources.begin(), {"run", test::write_box_detector(folder_), "--no-save", "--quiet", "--source"});
    return test::run_saccade(sources);
  };
  const test::Finished both = run({folder_ / "broken", "synthetic:?size=64x48", "--duration", "1"});
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_NE(both.err.find("warning: "), std::string::npos) << both.err;
  EXPECT_EQ(std::ranges::count(both.err, '\n'), 2) << "when it comes, and at the end: " << both.err;
  const test::Finished alone = run({folder_ / "broken"});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_EQ(alone.err.find("warning: "), std::string::npos) << alone.err;
}

}  // namespace
}  // namespace saccade
