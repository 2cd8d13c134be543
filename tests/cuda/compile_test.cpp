#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "emulator_calls.hpp"
#include "support/onnx_writer.hpp"
#include "support/subprocess.hpp"
#include "support/tiny_models.hpp"

// `saccade compile` and the commands that load its plans, each in a process of its own: a process compiles a kernel
// only once.
namespace saccade {
namespace {

using test::Finished;
using test::run_saccade;

class CompileForCuda : public testing::Test {
 protected:
  CompileForCuda() { setenv("SACCADE_CACHE", (folder_ / "cache").c_str(), 1); }
  ~CompileForCuda() override {
    unsetenv("SACCADE_CACHE");
    unsetenv("SACCADE_EMULATOR_FAIL");
    unsetenv("SACCADE_EMULATOR_CAPABILITY");
    unsetenv("SACCADE_EMULATOR_DRIVER");
  }
  void SetUp() override {
    if (!test::EmulatorCalls()) GTEST_SKIP() << "only the emulated compiler and driver can be configured";
  }

  /// A convolution that exceeds float16's range, and two that follow it.
  std::string loud_model() const {
    onnx_writer::Model model(13);
    model.input("x", {1, 1, 4, 4}).output("y");
    model.initializer(onnx_writer::tensor<float>("large", {1, 1, 1, 1}, {2e5}));
    model.initializer(onnx_writer::tensor<float>("small", {1, 1, 1, 1}, {1e-5F}));
    model.node({.op = "Conv", .inputs = {"x", "large"}, .outputs = {"c"}, .name = "first"});
    model.node({.op = "Conv", .inputs = {"c", "small"}, .outputs = {"d"}, .name = "second"});
    model.node({.op = "Conv", .inputs = {"d", "small"}, .outputs = {"y"}, .name = "third"});
    model.save(folder_ / "loud.onnx");
    return folder_ / "loud.onnx";
  }

  /// A depthwise convolution and a Relu: at most two node classes, whose kernels compile quickly.
  std::string model() const {
    onnx_writer::Model model(13);
    model.input("x", {1, 8, 4, 4}).output("y");
    model.initializer(onnx_writer::tensor<float>("w", {8, 1, 1, 1}, {1, -2, 3, -4, 5, -6, 7, -8}));
    model.node({.op = "Conv",
                .inputs = {"x", "w"},
                .outputs = {"c"},
                .attributes = {onnx_writer::attribute("group", 8)},
                .name = "conv"});
    model.node({.op = "Relu", .inputs = {"c"}, .outputs = {"y"}, .name = "relu"});
    model.save(folder_ / "model.onnx");
    return folder_ / "model.onnx";
  }

  std::string plan() const { return folder_ / "model.plan"; }

  Finished compile(std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(),
                 {"compile", model(), "-o", plan(), "--device", "cuda", "--precision", "fp32", "--json"});
    return run_saccade(flags);
  }

  Finished infer(const std::string& file, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"infer", file, "--output", folder_ / "out", "--log-level", "info"});
    return run_saccade(flags);
  }

  std::string output() const { return test::bytes_of_file(folder_ / "out/y.npy"); }

  /// From now on the emulated NVRTC fails.
  static void hide_compiler() { setenv("SACCADE_EMULATOR_FAIL", "nvrtcCreateProgram:0:5", 1); }

  test::TempFolder folder_;
};

TEST_F(CompileForCuda, TunesAndWritesAPlanThatOpensWithoutACompiler) {
  const Finished compiled = compile();
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const auto report = nlohmann::json::parse(compiled.out);
  EXPECT_EQ(report["tuned"][0]["for"], "tensors");
  EXPECT_GE(report["tuned"][0]["candidates"].get<int>(), 2);
  EXPECT_EQ(report["tuned"][0]["rejected"], 0) << compiled.err;
  EXPECT_GT(report["tuned"][0]["device_ms_after"].get<double>(), 0);

  ASSERT_EQ(infer(model(), {"--device", "cpu"}).exit_code, 0);
  const std::string wanted = output();
  setenv("SACCADE_CACHE", "", 1);
  hide_compiler();
  const Finished inferred = infer(plan(), {"--device", "auto"});
  EXPECT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_EQ(output(), wanted);
  EXPECT_EQ(infer(model(), {"--device", "cuda"}).exit_code, 1) << "the compiler is not hidden";
}

TEST_F(CompileForCuda, WritesAPlanThatTakesFramesWithoutACompiler) {
  const std::string classifier = test::write_color_classifier(folder_);
  const Finished compiled =
      run_saccade({"compile", classifier, "-o", plan(), "--device", "cuda", "--no-tune", "--json"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  // The precisions that ran beside fp32.
  const auto report = nlohmann::json::parse(compiled.out);
  const auto& candidates = report["precision_choice"]["candidates"];
  ASSERT_EQ(candidates.size(), 2) << report;
  EXPECT_EQ(candidates[0]["precision"], "tf32");
  EXPECT_EQ(candidates[1]["precision"], "fp16");
  EXPECT_GT(candidates[1]["relative_time"], 0);
  EXPECT_NE(candidates[1]["evidence"], "");
  setenv("SACCADE_CACHE", "", 1);
  hide_compiler();
  const auto run = [](const std::string& file, const std::vector<std::string>& flags) {
    std::vector<std::string> all{"run",          file, "--no-save", "--source", "synthetic:?size=64x48",
                                 "--max-frames", "2",  "--json"};
    all.insert(all.end(), flags.begin(), flags.end());
    return run_saccade(all);
  };
  const Finished finished = run(plan(), {"--device", "auto"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find("\"processed\":2"), std::string::npos) << finished.out;
  EXPECT_NE(run(classifier, {"--device", "cuda"}).exit_code, 0) << "the compiler is not hidden";
}

TEST_F(CompileForCuda, KeepsInAPlanWhatExceedsHalfPrecision) {
  const Finished compiled = run_saccade(
      {"compile", loud_model(), "-o", plan(), "--device", "cuda", "--json", "--precision", "fp16", "--no-tune"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const nlohmann::json wide = nlohmann::json::array({"c"});
  EXPECT_EQ(nlohmann::json::parse(compiled.out)["stay_float32"], wide);
  EXPECT_NE(compiled.err.find("are near or beyond the fp16 range"), std::string::npos) << compiled.err;

  const Finished inspected = run_saccade({"inspect", plan(), "--device", "auto", "--json"});
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["stay_float32"], wide) << inspected.err;
  hide_compiler();
  const Finished inferred = infer(plan(), {"--device", "auto"});
  EXPECT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_EQ(inferred.err.find("are near or beyond"), std::string::npos)
      << "it is not looked for again: " << inferred.err;
  EXPECT_NE(inferred.err.find("values and products kept in float32"), std::string::npos) << inferred.err;
}

/// As where only the GPU's libraries are installed.
TEST_F(CompileForCuda, FindsHalfPrecisionRangeOnTheGpuWithoutACpuBackend) {
  namespace fs = std::filesystem;
  const fs::path built = fs::path(SACCADE_BINARY).parent_path();
  const fs::path own = fs::path(folder_ / "installed");
  fs::create_directories(own / "lib" / "saccade");
  fs::copy(built / "saccade", own);
  fs::copy(built / "lib" / "libsaccade.so.0", own / "lib");
  for (const char* module : {"onnx.so", "cuda.so"})
    fs::copy(built / "lib" / "saccade" / module, own / "lib" / "saccade");
  const auto run = [&](const std::string& device) {
    const std::string libraries = "LD_LIBRARY_PATH=" + (own / "lib").string() + ":" + getenv("LD_LIBRARY_PATH");
    const std::string precision = device == "cpu" ? "fp32" : "fp16";
    std::vector<std::string> command = {"/usr/bin/env", libraries,  own / "saccade", "inspect",     loud_model(),
                                        "--json",       "--device", device,          "--precision", precision};
    return test::Subprocess(command).wait();
  };
  EXPECT_NE(run("cpu").exit_code, 0) << "the CPU's backend is not hidden";
  const Finished inspected = run("cuda");
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_EQ(nlohmann::json::parse(inspected.out)["stay_float32"], nlohmann::json::array({"c"})) << inspected.err;
}

TEST_F(CompileForCuda, TakesWhatWasMeasuredBefore) {
  ASSERT_EQ(compile().exit_code, 0);
  hide_compiler();
  const Finished again = compile();
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["tuned"][0]["candidates"], 0);
  const Finished inferred = infer(model(), {"--device", "cuda"});
  EXPECT_EQ(inferred.exit_code, 0) << inferred.err;
}

TEST_F(CompileForCuda, RecompilesAPlanForAnotherDevice) {
  ASSERT_EQ(compile({"--no-tune"}).exit_code, 0);
  setenv("SACCADE_EMULATOR_CAPABILITY", "8.0", 1);
  const Finished inferred = infer(plan(), {"--device", "auto"});
  EXPECT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_NE(inferred.err.find("kernels are selected and compiled again"), std::string::npos) << inferred.err;
  EXPECT_NE(inferred.err.find("sm_90a"), std::string::npos) << inferred.err;
}

TEST_F(CompileForCuda, SaysThatAPlanIsOfAnotherDriver) {
  ASSERT_EQ(compile({"--no-tune"}).exit_code, 0);
  setenv("SACCADE_EMULATOR_DRIVER", "12080", 1);
  hide_compiler();
  const Finished inferred = infer(plan(), {"--device", "auto"});
  EXPECT_EQ(inferred.exit_code, 0) << "its machine code still serves: " << inferred.err;
  EXPECT_NE(inferred.err.find("CUDA 13.0), and this is"), std::string::npos) << inferred.err;
  EXPECT_NE(inferred.err.find("CUDA 12.8): kernels are selected"), std::string::npos) << inferred.err;
}

TEST_F(CompileForCuda, RunsWithoutACache) {
  folder_.write("cache", "a file where the folder should be");
  const Finished compiled = compile();
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_NE(compiled.err.find("tuning will be repeated"), std::string::npos) << compiled.err;
  EXPECT_EQ(infer(plan(), {"--device", "auto"}).exit_code, 0);
}

TEST_F(CompileForCuda, RecompilesDamagedCacheEntries) {
  ASSERT_EQ(compile({"--no-tune"}).exit_code, 0);
  ASSERT_EQ(infer(model(), {"--device", "cpu"}).exit_code, 0);
  const std::string wanted = output();
  int damaged = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache/kernels")) {
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
    ++damaged;
  }
  ASSERT_GT(damaged, 0);
  const Finished inferred = infer(model(), {"--device", "cuda"});
  EXPECT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_NE(inferred.err.find("is damaged"), std::string::npos) << inferred.err;
  EXPECT_EQ(output(), wanted);
  hide_compiler();
  EXPECT_EQ(infer(model(), {"--device", "cuda"}).exit_code, 0) << "what was damaged is rewritten";
}

TEST_F(CompileForCuda, RefusesInvalidMachineCode) {
  ASSERT_EQ(compile({"--no-tune"}).exit_code, 0);
  std::string bytes = test::bytes_of_file(plan());
  const std::size_t image = bytes.rfind(
      "\x7f"
      "ELF");
  ASSERT_NE(image, std::string::npos);
  bytes[image + 1] = 'X';
  folder_.write("model.plan", bytes);
  const Finished inferred = infer(plan(), {"--device", "auto"});
  EXPECT_EQ(inferred.exit_code, 1);
  EXPECT_NE(inferred.err.find("it is damaged, its checksum differs"), std::string::npos) << inferred.err;
}

}  // namespace
}  // namespace saccade
