#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "apps/expect_error.hpp"
#include "saccade/npy.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// A number on the command line is decimal, or an error says so in one sentence; no flag may be given twice.
namespace saccade {
namespace {

using test::expect_error;
using test::Finished;
using test::run_saccade;

constexpr const char* kCommands[] = {"run",   "infer", "compile",  "inspect", "check",
                                     "bench", "demo",  "validate", "limits",  "profile"};

/// The flags of SUBCOMMAND whose value is called "N" in its help.
std::vector<std::string> integer_flags(const std::string& subcommand) {
  std::istringstream help(run_saccade({subcommand, "--help"}).out);
  static const std::regex flag(R"(^\s+(--[a-z-]+) N\b.*)");
  std::vector<std::string> flags;
  std::smatch match;
  for (std::string line; std::getline(help, line);)
    if (std::regex_match(line, match, flag)) flags.push_back(match[1]);
  return flags;
}

class Numbers : public testing::Test {
 protected:
  std::string drawn(const std::string& seed) {
    const std::string out = folder_ / ("out" + seed);
    const Finished finished =
        run_saccade({"infer", test::write_color_classifier(folder_), "--seed", seed, "--output", out});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return test::bytes_of_file(out + "/scores.npy");
  }

  test::TempFolder folder_;
};

TEST_F(Numbers, EveryFlagOfEveryCommandRefusesWhatIsNoDecimalNumber) {
  std::size_t flags = 0;
  for (const std::string subcommand : kCommands)
    for (const std::string& flag : integer_flags(subcommand)) {
      ++flags;
      for (const std::string text : {"0x10", "1e3", "+5", " 5", "5.0", "nan", "inf", "-1", "99999999999999999999"})
        expect_error(run_saccade({subcommand, flag, text}), 2, {flag + ": '" + text + "' is not an integer from "});
    }
  EXPECT_GE(flags, 20U);
}

TEST_F(Numbers, ZerosInFrontChangeNothing) {
  EXPECT_EQ(drawn("010"), drawn("10"));
  EXPECT_NE(drawn("010"), drawn("8"));
  EXPECT_NE(drawn("18446744073709551615"), drawn("0")) << "the largest seed is one";
}

TEST_F(Numbers, RealNumbersAreDecimalToo) {
  for (const char* text : {"0x1", "+0.5", " 0.5", "nan", "inf", "-0.1", "0,5"})
    expect_error(run_saccade({"run", "m.onnx", "--source", "v.mp4", "--conf", text}), 2,
                 {"--conf: '" + std::string(text) + "' is not a number from 0 to 1"});
  EXPECT_EQ(run_saccade({"run", test::write_box_detector(folder_), "--no-save", "--source", "synthetic:?frames=1",
                         "--conf", "5e-1"})
                .exit_code,
            0);
}

TEST_F(Numbers, NothingIsGivenTwice) {
  const std::string model = test::write_color_classifier(folder_);
  save_npy(folder_ / "x.npy", Tensor(DType::kFloat32, {1, 3, 8, 8}));
  const std::string input = "image=" + (folder_ / "x.npy");
  expect_error(run_saccade({"infer", model, "--output", folder_ / "o", "--input", input, "--input", input}), 2,
               {"--input: 'image' is given twice"});
  expect_error(run_saccade({"inspect", model, "--shape", "image=1x3x8x8", "--shape", "image=1x3x9x9"}), 2,
               {"--shape", "'image' is given twice"});
  expect_error(run_saccade({"inspect", model, "--shape", "batch=1", "--shape", "batch=2"}), 2,
               {"--shape", "'batch' is given twice"});
  expect_error(run_saccade({"run", model, "--no-save", "--source", "synthetic:?seed=1&seed=2"}), 1,
               {"'seed' is given twice"});
}

TEST_F(Numbers, AScenesSeedIsWithinItsRange) {
  const std::string model = test::write_color_classifier(folder_);
  for (const char* seed : {"-1", "18446744073709551616", "0x10", "1e3"})
    expect_error(run_saccade({"run", model, "--no-save", "--source", std::string("synthetic:?frames=1&seed=") + seed}),
                 1, {seed, "an integer from 0 to 18446744073709551615"});
}

TEST_F(Numbers, ANewerOperatorSetIsSaid) {
  onnx_writer::Model model(99);
  model.input("x", {1, 3}).output("y");
  model.node({.op = "Relu", .inputs = {"x"}, .outputs = {"y"}, .name = "relu"});
  model.save(folder_ / "newer.onnx");
  const Finished finished = run_saccade({"inspect", folder_ / "newer.onnx"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.err.find("operator set 99, and the newest supported is 28"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace saccade
