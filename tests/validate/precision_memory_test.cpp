#include "validate/precision_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "saccade/error.hpp"
#include "support/tiny_models.hpp"

namespace saccade {
namespace {

class PrecisionMemory : public testing::Test {
 protected:
  void SetUp() override { setenv("SACCADE_CACHE", (cache_ / "cache").c_str(), 1); }
  void TearDown() override { setenv("SACCADE_CACHE", "", 1); }

  Model load(const std::string& name = "color", int threads = 2) const {
    return Model::load(folder_ / (name + ".onnx"), {.device = Device::cpu(), .threads = threads});
  }

  test::TempFolder cache_;
  test::TempFolder folder_;
};

TEST_F(PrecisionMemory, IsOfAModelAndItsOptions) {
  test::write_color_classifier(folder_);
  test::write_box_detector(folder_);
  const PrecisionChoice choice{.decided = {.precision = Precision::kFp32, .keep_fp32 = {"head"}},
                               .why = "bf16 takes 1.10 of the time of fp32"};
  EXPECT_FALSE(remembered_precision(load()));
  remember_precision(load(), choice);
  const std::optional<RememberedPrecision> known = remembered_precision(load());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->decided.precision, Precision::kFp32);
  EXPECT_EQ(known->why, choice.why);
  EXPECT_EQ(known->decided.keep_fp32, choice.decided.keep_fp32);
  EXPECT_FALSE(remembered_precision(load("color", 1))) << "another number of threads";
  EXPECT_FALSE(remembered_precision(load("boxes"))) << "another model";
  std::filesystem::copy_file(folder_ / "color.onnx", folder_ / "copy.onnx");
  std::filesystem::copy_file(folder_ / "color.toml", folder_ / "copy.toml");
  EXPECT_TRUE(remembered_precision(load("copy"))) << "the same model elsewhere";
  std::ofstream(folder_ / "copy.toml", std::ios::app) << "\n";
  EXPECT_TRUE(remembered_precision(load("copy"))) << "the same card";
}

TEST_F(PrecisionMemory, TakesPrecisionsThatAreFasterHere) {
  test::write_color_classifier(folder_);
  for (const Precision precision : {Precision::kBf16, Precision::kFp16, Precision::kTf32}) {
    remember_precision(load(), {.decided = {.precision = precision}, .why = "it was faster"});
    const std::vector<Precision> faster = faster_precisions(load().options());
    const bool is_one = std::ranges::find(faster, precision) != faster.end();
    EXPECT_EQ(remembered_precision(load()).has_value(), is_one) << to_string(precision);
  }
}

TEST_F(PrecisionMemory, IgnoresDamage) {
  test::write_color_classifier(folder_);
  remember_precision(load(), {.why = "because"});
  for (const auto& file : std::filesystem::directory_iterator(cache_ / "cache/precisions"))
    std::ofstream(file.path(), std::ios::app) << "x";
  EXPECT_FALSE(remembered_precision(load()));
}

TEST_F(PrecisionMemory, IsLostWithoutACache) {
  test::write_color_classifier(folder_);
  setenv("SACCADE_CACHE", "", 1);
  remember_precision(load(), {.why = "because"});
  EXPECT_FALSE(remembered_precision(load()));
}

TEST_F(PrecisionMemory, DecidesBeforeTheFirstCompilation) {
  test::write_color_classifier(folder_);
  const Model model = load();
  EXPECT_EQ(model.options().precision, Precision::kAuto);
  use_precision(model, {.precision = Precision::kBf16});
  EXPECT_EQ(model.options().precision, Precision::kBf16);
  Session session(model);
  EXPECT_THROW(use_precision(model, {.precision = Precision::kFp32}), Error) << "it is compiled";
}

}  // namespace
}  // namespace saccade
