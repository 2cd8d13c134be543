#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "cuda/driver/driver_api.hpp"
#include "op_case/op_case.hpp"
#include "pipeline/model/compile.hpp"
#include "result_text.hpp"
#include "support/graph_builder.hpp"
#include "support/tiny_models.hpp"

// Long runs. On an emulated GPU they are short and on small networks; script/test-gpu sets more by environment
// variables:
//   SACCADE_SOAK_REPLAYS  replays of a graph
//   SACCADE_SOAK_SECONDS  duration of concurrent pipelines
//   SACCADE_SOAK_MODELS   files, separated by colons
//   SACCADE_SOAK_SOURCE   source of the pipelines

namespace saccade {
namespace {

std::string setting(const char* name, const std::string& otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : text;
}

constexpr const char* kReplays = "SACCADE_SOAK_REPLAYS";
bool is_full_run() { return std::getenv(kReplays) != nullptr; }
int replays() { return std::stoi(setting(kReplays, "20")); }

std::vector<std::string> models(const std::string& otherwise) {
  std::istringstream texts(setting("SACCADE_SOAK_MODELS", otherwise));
  std::vector<std::string> paths;
  for (std::string path; std::getline(texts, path, ':');) paths.push_back(path);
  return paths;
}

/// Free memory of the current context's GPU, by its driver.
std::size_t free_device_bytes() {
  using MemoryInfo = cuda::CUresult (*)(std::size_t*, std::size_t*);
  static const auto memory_info =
      reinterpret_cast<MemoryInfo>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemGetInfo_v2"));
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(memory_info(&free, &total), cuda::CUDA_SUCCESS);
  return free;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A network of operators with hand-written kernels: convolutions, pooling, GEMM, softmax.
Graph network() {
  test::GraphBuilder b;
  const ValueId x = b.input("x", {1, 8, 16, 16});
  const ValueId first = b.op("Relu", {b.op("Conv", {x, b.random({16, 8, 3, 3})})});
  const ValueId pool = b.op("MaxPool", {first}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  const ValueId second = b.op("Conv", {pool, b.random({32, 16, 1, 1})});
  const ValueId product = b.op("Gemm", {b.op("Flatten", {b.op("GlobalAveragePool", {second})}), b.random({32, 10})});
  return b.build({b.op("Softmax", {product})});
}

/// Fills the inputs with noise; expects equal outputs of many runs and no growth of memory.
void soak(Execution& execution) {
  const Graph& graph = execution.plan().graph();
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const TensorView to = execution.input(i);
    const Tensor noise = random_elements(to.dtype, to.shape, 0, 1, static_cast<std::uint32_t>(i) + 7);
    std::memcpy(to.data, noise.raw(), noise.bytes());
  }
  for (int i = 0; i < 10; ++i) execution.run();
  std::vector<std::string> wanted;
  const auto bytes = [&](std::size_t output) {
    const TensorView view = execution.output(output);
    return std::string_view(static_cast<const char*>(view.data), bytes_of(view.dtype, view.shape));
  };
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) wanted.emplace_back(bytes(i));
  const std::size_t device = free_device_bytes();
  const std::size_t host = resident_bytes();
  for (int run = 0; run < replays(); ++run) {
    execution.run();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_TRUE(bytes(i) == wanted[i]) << "output " << i << " of replay " << run;
  }
  EXPECT_EQ(free_device_bytes(), device);
  // Few replays show nothing: an emulated GPU and sanitizers allocate memory of their own.
  if (is_full_run()) {
    EXPECT_LT(resident_bytes(), host + (std::size_t{1} << 20));
  }
}

TEST(CudaSoak, ReplaysAlikeInConstantMemory) {
  Execution execution(
      compile({.graph = network(), .options = {.device = Device::cuda(), .precision = Precision::kFp16}}));
  soak(execution);
}

TEST(CudaSoak, ModelsReplayAlikeInConstantMemory) {
  const test::TempFolder folder;
  const ModelOptions options{.device = Device::cuda(), .precision = Precision::kFp16};
  for (const std::string& path : models(test::write_color_classifier(folder))) {
    SCOPED_TRACE(path);
    Execution execution(compile({.graph = import_model(path, options), .options = options}));
    soak(execution);
    if (HasFatalFailure()) return;
  }
}

/// Each thread's pipelines open, capture, run and end while the others' do.
TEST(CudaSoak, PipelinesSideBySideGiveEqualResults) {
  const test::TempFolder folder;
  const std::string both = test::write_color_classifier(folder) + ":" + test::write_box_detector(folder);
  const std::string source = setting("SACCADE_SOAK_SOURCE", "synthetic:?size=32x24&frames=4");
  const auto end = Clock::now() + std::chrono::seconds(std::stoi(setting("SACCADE_SOAK_SECONDS", "0")));
  const auto results_of = [&](const Model& model) {
    Pipeline pipeline(Source::open(source), model);
    std::vector<std::string> texts = test::texts_of(pipeline);
    const Summary summary = pipeline.summary();
    EXPECT_EQ(summary.ledger.failed, 0);
    EXPECT_GT(summary.ledger.processed, 0);
    return texts;
  };
  std::vector<std::thread> threads;
  std::vector<std::string> failures(models(both).size());
  std::vector<int> rounds(failures.size());
  for (std::size_t i = 0; i < failures.size(); ++i)
    threads.emplace_back([&, i, path = models(both)[i]] {
      try {
        const Model model = Model::load(path, {.device = Device::cuda()});
        const std::vector<std::string> wanted = results_of(model);
        if (wanted.empty()) failures[i] = source + " has no frames";
        do {
          if (results_of(model) != wanted) failures[i] = fmt::format("{}: round {} differs", path, rounds[i]);
          ++rounds[i];
        } while (failures[i].empty() && Clock::now() < end);
      } catch (const Error& error) {
        failures[i] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < failures.size(); ++i) {
    EXPECT_EQ(failures[i], "");
    std::printf("pipeline %zu: %d rounds\n", i, rounds[i]);
  }
}

}  // namespace
}  // namespace saccade
