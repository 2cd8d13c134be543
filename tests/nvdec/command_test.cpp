#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "apps/command_fixture.hpp"

// saccade run --decode
namespace saccade {
namespace {

using nlohmann::json;
using test::Finished;
using test::run_saccade;
using testing::HasSubstr;

class DecodeFlag : public test::CommandTest {
 protected:
  Finished run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"run", test::write_color_classifier(folder_), "--precision", "fp32", "--source"});
    return run_saccade(flags);
  }
  std::vector<json> results_of(const std::vector<std::string>& flags) {
    const Finished finished = run(flags);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    std::vector<json> lines = test::lines_of(finished.out);
    for (json& line : lines) line.erase("latency_ms");
    return lines;
  }
};

TEST_F(DecodeFlag, ResultsAndImagesAreTheSame) {
  const std::string path = video(6);
  std::map<std::string, std::vector<json>> results;
  std::map<std::string, std::string> images;
  for (const std::string decode : {"cpu", "auto", "cuda"}) {
    results[decode] = results_of({path, "--device", "cuda", "--decode", decode, "--jsonl", "-", "--no-summary",
                                  "--quiet", "--frames", folder_ / decode});
    std::ifstream file(folder_ / (decode + "/0-000005.jpg"), std::ios::binary);
    images[decode].assign(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_EQ(results["cpu"].size(), 6U);
  EXPECT_EQ(results["auto"], results["cpu"]);
  EXPECT_EQ(results["cuda"], results["cpu"]);
  EXPECT_FALSE(images["cpu"].empty());
  EXPECT_TRUE(images["auto"] == images["cpu"]);
  EXPECT_TRUE(images["cuda"] == images["cpu"]);
}

TEST_F(DecodeFlag, TheLogSaysWhatDecodes) {
  const std::string path = video(3);
  const auto log_of = [&](const std::string& device) {
    return run({path, "--device", device, "--log-level", "info", "--no-save"}).err;
  };
  EXPECT_THAT(log_of("cuda"), HasSubstr(path + ": cuda:0 decodes it"));
  EXPECT_THAT(log_of("cpu"), testing::Not(HasSubstr("decodes it")));
}

TEST_F(DecodeFlag, OtherSourcesHaveNoDecoder) {
  EXPECT_EQ(run({images(), "--decode", "cuda", "--device", "cpu", "--no-save"}).exit_code, 0);
  EXPECT_EQ(run({"synthetic:?size=64x48&frames=2", "--decode", "cuda", "--device", "cpu", "--no-save"}).exit_code, 0);
}

TEST_F(DecodeFlag, AnImpossibleDecoderIsNamed) {
  const std::string path = video(3);
  const Finished isolated = run({path, "--decode", "cuda", "--isolate", "--no-save"});
  EXPECT_EQ(isolated.exit_code, 2);
  EXPECT_THAT(isolated.err, HasSubstr("--decode: with --isolate"));
  EXPECT_EQ(run({path, "--isolate", "--device", "cpu", "--no-save"}).exit_code, 0);
}

}  // namespace
}  // namespace saccade
