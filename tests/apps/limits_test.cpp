#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/tactic.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;
using testing::HasSubstr;

const std::string kStudy = std::string(SACCADE_SOURCE) + "/examples/devices/roofline-study.toml";

class Limits : public testing::Test {
 protected:
  /// A device file with this machine's name and RATE operations and bytes per second.
  std::string file_of_this_machine(const std::string& rate) {
    return folder_.write("device.toml", "name = \"" + cpu_backend().device_name() +
                                            "\"\n[[compute]]\nprecision = \"fp32\"\npeak = " + rate +
                                            "\n[[memory]]\nbandwidth = " + rate + "\n");
  }

  test::TempFolder folder_;
};

TEST_F(Limits, ReproducesThePublishedFramePeriod) {
  const Finished finished =
      run_saccade({"limits", "--device-file", kStudy, "--capture", "12.2ms", "--inference", "9.4ms"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const char* figure : {" 11.11 ms\n", " 21.60 ms\n", " 10.49 ms per frame\n", " 1049 ms over 100 frames\n",
                             " 94 of 100 periods", " 46.3 frames per second of 90\n", "bound 2.56 ms"})
    EXPECT_THAT(finished.out, HasSubstr(figure));
}

TEST_F(Limits, ACardThatCanNotBeReadIsAnErrorOfEveryCommand) {
  const std::string model = test::write_box_detector(folder_);
  folder_.write("boxes.toml", "[output]\ndecoder = \n");
  const std::vector<std::vector<std::string>> commands = {{"limits", model, "--device-file", kStudy},
                                                          {"bench", model, "--runs", "1", "--duration", "0"},
                                                          {"profile", model, "--max-frames", "1"},
                                                          {"compile", model, "-o", folder_ / "plan"}};
  for (const auto& command : commands) {
    const Finished finished = run_saccade(command);
    EXPECT_EQ(finished.exit_code, 1) << command[0];
    EXPECT_THAT(finished.err, HasSubstr("boxes.toml:2")) << command[0];
  }
}

TEST_F(Limits, FlagsWinOverTheDeviceFile) {
  const Finished finished = run_saccade({"limits", "--device-file", kStudy, "--camera", "8x8@100:gray8", "--bus",
                                         "64 kB/s", "--capture", "4 ms", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json period = json::parse(finished.out)["period"];
  EXPECT_EQ(period["frame_bytes"], 64);
  EXPECT_NEAR(period["stages"][0]["bound_ms"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(period["slack_ms"].get<double>(), 6, 1e-9);
  EXPECT_EQ(period["frames_lost"], 0);
}

TEST_F(Limits, BoundsAModelOnAnotherDeviceWithoutRunningIt) {
  const Finished finished = run_saccade(
      {"limits", test::write_color_classifier(folder_), "--device-file", kStudy, "--inference", "9.4ms", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  EXPECT_EQ(report["ceilings"]["compute"][0]["all"], 56.28e12);
  const json& model = report["models"][0];
  ASSERT_FALSE(model["layers"].empty());
  EXPECT_FALSE(model["layers"][0].contains("median_ms"));
  double sum = 0;
  for (const json& layer : model["layers"]) sum += layer["bound_ms"].get<double>();
  EXPECT_NEAR(model["whole"]["bound_ms"].get<double>(), sum, 1e-9);
  EXPECT_EQ(model["precisions"].size(), 3U);
  EXPECT_EQ(report["period"]["stages"][0]["bound_ms"], model["whole"]["bound_ms"]);
}

TEST_F(Limits, RunsAModelOnItsOwnMachine) {
  const Finished finished =
      run_saccade({"limits", test::write_box_detector(folder_), "--device-file", file_of_this_machine("1e12"),
                   "--duration", "0.01", "--camera", "16x16@30:rgb24", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = json::parse(finished.out);
  const json& model = report["models"][0];
  EXPECT_GE(model["runs"], 10);
  EXPECT_GT(model["whole"]["median_ms"], 0);
  EXPECT_EQ(model["layers"][0]["operator"], "Preprocess");
  EXPECT_EQ(model["layers"][0]["stage"], "pre");
  EXPECT_EQ(report["period"]["stages"].size(), 3U) << "pre, model, post";
}

TEST_F(Limits, ThreadsAreThoseOfTheFile) {
  const std::string file = file_of_this_machine("1e12");
  const std::string model = test::write_color_classifier(folder_);
  const Finished finished = run_saccade({"limits", model, "--device-file", file, "--duration", "0.01", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out)["models"][0]["threads"], 1);
  const Finished other = run_saccade({"limits", model, "--device-file", file, "--threads", "2"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("describes 1 threads"));
}

TEST_F(Limits, CheckIsAVerdict) {
  const std::string model = test::write_color_classifier(folder_);
  const auto check = [&](const std::string& rate) {
    return run_saccade({"limits", model, "--check", "--duration", "0.01", "--device-file", file_of_this_machine(rate)});
  };
  const Finished fast = check("1e30");
  EXPECT_EQ(fast.exit_code, 0) << fast.out << fast.err;
  EXPECT_THAT(fast.out, HasSubstr("1 model: 0 bounds violated"));
  const Finished slow = check("1");
  EXPECT_EQ(slow.exit_code, 3) << slow.out << slow.err;
  EXPECT_THAT(slow.out, HasSubstr("layer "));
}

TEST_F(Limits, SavesAndListsNothingItDoesNotKnow) {
  const std::string saved = folder_ / "saved.toml";
  EXPECT_EQ(run_saccade({"limits", "--device-file", kStudy, "--output", saved}).exit_code, 0);
  const Finished again = run_saccade({"limits", "--device-file", saved, "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["ceilings"]["memory"][0]["all"]["read"], 960e9);
  EXPECT_FALSE(json::parse(again.out).contains("period"));
}

TEST_F(Limits, NonsenseIsRefused) {
  EXPECT_EQ(run_saccade({"limits", "--camera", "big"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"limits", "--bus", "60 MBps"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"limits", "--capture", "12"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"limits", "--deficit-frames", "0"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"limits", "--check"}).exit_code, 2);
  EXPECT_EQ(run_saccade({"limits", "--device-file", folder_ / "missing.toml"}).exit_code, 1);
  const Finished other =
      run_saccade({"limits", test::write_color_classifier(folder_), "--check", "--device-file", kStudy});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("roofline-study.toml"));
}

}  // namespace
}  // namespace saccade
