#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "emulator_calls.hpp"
#include "saccade/error.hpp"
#include "saccade/model.hpp"
#include "support/onnx_writer.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// Device::Kind::kAuto and --device auto, with an emulated GPU.
namespace saccade {
namespace {

using test::Finished;
using test::run_saccade;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AutoDevice : public testing::Test {
 protected:
  AutoDevice() : libraries_(getenv("LD_LIBRARY_PATH") != nullptr ? getenv("LD_LIBRARY_PATH") : "") {
    setenv("SACCADE_CACHE", (folder_ / "cache").c_str(), 1);
  }
  ~AutoDevice() override {
    setenv("LD_LIBRARY_PATH", libraries_.c_str(), 1);
    for (const char* name : {"SACCADE_CACHE", "SACCADE_EMULATOR_FAIL", "SACCADE_EMULATOR_CAPABILITY"}) unsetenv(name);
  }
  void SetUp() override {
    if (!test::EmulatorCalls()) GTEST_SKIP() << "only the emulated driver can be made to fail";
  }

  std::string colors() const { return test::write_color_classifier(folder_); }

  /// A model with an operator that has no GPU kernel.
  std::string determinants() const {
    onnx_writer::Model model(13);
    model.input("x", {1, 2, 2}).output("y");
    model.node({.op = "Neg", .inputs = {"x"}, .outputs = {"minus"}, .name = "negate"});
    model.node({.op = "Det", .inputs = {"minus"}, .outputs = {"y"}, .name = "determinants"});
    model.save(folder_ / "determinants.onnx");
    return folder_ / "determinants.onnx";
  }

  Finished infer(const std::string& model, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"infer", model, "--device", "auto", "--output", folder_ / "out"});
    return run_saccade(flags);
  }

  /// The message of loading MODEL with OPTIONS, which fails.
  static std::string refusal(const std::string& model, const ModelOptions& options) {
    try {
      Model::load(model, options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::string libraries_;
  test::TempFolder folder_;
};

TEST_F(AutoDevice, IsTheGpuForAModelThatItSupports) {
  EXPECT_EQ(Model::load(colors()).options().device, Device::cuda());
  EXPECT_EQ(Model::load(colors(), {.precision = Precision::kFp16}).options().device, Device::cuda());
  EXPECT_EQ(Model::load(test::write_box_detector(folder_)).options().device, Device::cuda());
}

TEST_F(AutoDevice, IsNamedWhereADeviceIsReported) {
  const Finished inspected = run_saccade({"inspect", colors(), "--device", "auto", "--json", "--log-level", "info"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["plan"]["backend"], "cuda");
  EXPECT_THAT(inspected.err, AllOf(HasSubstr("color.onnx: it runs on "), HasSubstr("sm_90a")));
}

TEST_F(AutoDevice, IsTheCpuForAnOperatorWithoutAKernel) {
  EXPECT_EQ(Model::load(determinants()).options().device, Device::cpu());
  const Finished inferred = infer(determinants());
  EXPECT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_THAT(inferred.err, AllOf(HasSubstr("warning: "), HasSubstr("determinants.onnx: it runs on the CPU: "),
                                  HasSubstr("'determinants' (Det)"), HasSubstr("--fallback cpu")));
  EXPECT_EQ(Model::load(determinants(), {.fallback = true}).options().device, Device::cuda());
}

TEST_F(AutoDevice, RefusesAPrecisionThatNeedsTheGpu) {
  EXPECT_THAT(refusal(determinants(), {.precision = Precision::kFp16}),
              AllOf(HasSubstr("the precision 'fp16' needs a GPU (without one, use auto, fp32 or bf16)"),
                    HasSubstr("(Det)"), HasSubstr("--fallback cpu")));
  setenv("SACCADE_EMULATOR_FAIL", "cuInit:0:100", 1);
  const Finished inferred = infer(colors(), {"--precision", "tf32"});
  EXPECT_EQ(inferred.exit_code, 1);
  EXPECT_THAT(inferred.err, AllOf(HasSubstr("the precision 'tf32' needs a GPU"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST_F(AutoDevice, IsTheCpuWithoutADriver) {
  folder_.write("libcuda.so.1", "no library");
  setenv("LD_LIBRARY_PATH", (folder_ / "").c_str(), 1);
  const Finished quiet = infer(colors());
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_THAT(quiet.err, Not(HasSubstr("it runs on")));
  EXPECT_THAT(infer(colors(), {"--log-level", "info"}).err,
              HasSubstr("info: " + colors() + ": it runs on the CPU: there is no CUDA driver"));
}

TEST_F(AutoDevice, IsTheCpuWithoutAGpu) {
  setenv("SACCADE_EMULATOR_FAIL", "cuInit:0:100", 1);
  EXPECT_THAT(infer(colors()).err, Not(HasSubstr("it runs on")));
  EXPECT_THAT(infer(colors(), {"--log-level", "info"}).err,
              AllOf(HasSubstr("info: "), HasSubstr("it runs on the CPU: cuInit failed with CUDA_ERROR_NO_DEVICE")));
}

TEST_F(AutoDevice, IsTheCpuWhereTheGpuCannotBeUsed) {
  setenv("SACCADE_EMULATOR_CAPABILITY", "7.5", 1);
  const Finished old = infer(colors());
  EXPECT_EQ(old.exit_code, 0) << old.err;
  EXPECT_THAT(old.err,
              AllOf(HasSubstr("warning: "), HasSubstr("has the compute capability 7.5, and the kernels need 8.0")));
  EXPECT_EQ(run_saccade({"infer", colors(), "--device", "cuda", "--output", folder_ / "out"}).exit_code, 1);
  unsetenv("SACCADE_EMULATOR_CAPABILITY");
  setenv("SACCADE_EMULATOR_FAIL", "nvrtcVersion:0:5", 1);
  EXPECT_THAT(infer(colors()).err, AllOf(HasSubstr("warning: "), HasSubstr("it runs on the CPU: NVRTC")));
}

TEST_F(AutoDevice, IsTheDeviceOfAPlan) {
  const std::string plan = folder_ / "color.plan";
  ASSERT_EQ(run_saccade({"compile", colors(), "-o", plan, "--device", "cpu"}).exit_code, 0);
  EXPECT_EQ(Model::load(plan).options().device, Device::cpu());
  ASSERT_EQ(
      run_saccade({"compile", colors(), "-o", plan, "--device", "auto", "--precision", "fp32", "--no-tune"}).exit_code,
      0);
  EXPECT_EQ(Model::load(plan).options().device, Device::cuda());
}

}  // namespace
}  // namespace saccade
