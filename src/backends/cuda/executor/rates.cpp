#include "cuda/executor/rates.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/clock.hpp"
#include "cuda/driver/capture.hpp"
#include "cuda/driver/launch.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/plans/wgmma_source.hpp"

// Measures peak rates. Bandwidth and throughput are timed by CUDA events around one launch that is long enough to
// amortise its start. Launch overhead is the difference between two graphs of empty kernels. A run's overhead is timed
// by the host's clock, since the host waits for it.
namespace saccade::cuda {
namespace {

constexpr unsigned kRateThreads = 256;
constexpr unsigned kBlocksAProcessor = 8;
constexpr double kVector = 16;  // bytes per load or store
constexpr int kFewLaunches = 50;
constexpr int kManyLaunches = 250;
constexpr int kSizesOfCopies = 4;

class Rates {
 public:
  Rates(Device& device, const GpuRateOptions& options) : device_(device), options_(options) {
    device.make_current();
    stream_ = make_stream();
    start_ = make_event(CU_EVENT_DEFAULT);
    end_ = make_event(CU_EVENT_DEFAULT);
    from_ = DeviceMemory(options.memory_bytes);
    to_ = DeviceMemory(options.memory_bytes);
    // Reads of memory that was never written may be faster.
    SACCADE_CUDA(cuMemsetD8Async(from_.address(), 1, from_.bytes(), stream_.get()));
  }

  GpuRates measure() {
    CUdevice number = 0;
    int l2 = 0;
    SACCADE_CUDA(cuDeviceGet(&number, device_.ordinal()));
    SACCADE_CUDA(cuDeviceGetAttribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, number));
    GpuRates rates{.device = device_.name(),
                   .multiprocessors = device_.multiprocessors(),
                   .l2_bytes = static_cast<std::size_t>(l2)};
    // A quarter of L2: source and destination, with room for uneven hashing.
    rates.l2 = bandwidth(std::min(rates.l2_bytes / 4, options_.memory_bytes), options_.l2_loops);
    rates.memory = bandwidth(options_.memory_bytes, 1);
    rates.fp16 = fragments("float16", 16);
    rates.bf16 = fragments("bfloat16", 16);
    rates.tf32 = fragments("float", 8);
    rates.int8 = fragments("int8", 32);
    if (device_.capability() == 90) {
      rates.warpgroup_fp16 = warpgroups(DType::kFloat16);
      rates.warpgroup_bf16 = warpgroups(DType::kBFloat16);
    }
    rates.fp32 = floats();
    rates.launch = (graph_time(kManyLaunches, true) - graph_time(kFewLaunches, true)) / (kManyLaunches - kFewLaunches);
    rates.launch_without_overlap =
        (graph_time(kManyLaunches, false) - graph_time(kFewLaunches, false)) / (kManyLaunches - kFewLaunches);
    rates.run = run_time();
    for (std::size_t i = 0, bytes = 16 << 10; i < kSizesOfCopies; ++i, bytes *= 8)
      if (bytes <= options_.memory_bytes) rates.copies.push_back(copy_times(bytes));
    return rates;
  }

 private:
  using Seconds = std::chrono::duration<double>;

  static constexpr const char* kRates = "#include \"rates.cuh\"\n";

  CUfunction function(const std::string& body, const std::string& definitions = kRates) {
    return device_
        .kernel(definitions + "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(kRateThreads) +
                    ") measure(const float4* from, float4* to) {\n  pdl_wait_and_trigger();\n  " + body + "\n}\n",
                "measure")
        .function;
  }

  unsigned blocks() const { return kBlocksAProcessor * static_cast<unsigned>(device_.multiprocessors()); }

  void launch(CUfunction kernel, bool overlaps) {
    CUdeviceptr from = from_.address();
    CUdeviceptr to = to_.address();
    void* arguments[] = {&from, &to};
    const Grid grid{.blocks = {blocks(), 1, 1}, .threads = {kRateThreads, 1, 1}};
    cuda::launch(kernel, grid, arguments, stream_.get(), overlaps);
  }

  /// Minimum over several windows, by CUDA events.
  double seconds_of(const std::function<void()>& work) {
    float least = std::numeric_limits<float>::infinity();
    for (int window = 0; window <= options_.windows; ++window) {
      SACCADE_CUDA(cuEventRecord(start_.get(), stream_.get()));
      work();
      SACCADE_CUDA(cuEventRecord(end_.get(), stream_.get()));
      SACCADE_CUDA(cuStreamSynchronize(stream_.get()));
      float milliseconds = 0;
      SACCADE_CUDA(cuEventElapsedTime(&milliseconds, start_.get(), end_.get()));
      if (window != 0) least = std::min(least, milliseconds);
    }
    return std::max(static_cast<double>(least), 1e-6) / 1e3;
  }

  double rate_of(const std::string& body, double amount, const std::string& definitions = kRates) {
    const CUfunction kernel = function(body, definitions);
    return amount / seconds_of([&] { launch(kernel, false); });
  }

  GpuBandwidth bandwidth(std::size_t bytes, int loops) {
    const double vectors = std::floor(static_cast<double>(bytes) / kVector);
    const double amount = vectors * kVector * loops;
    const std::string sizes = "<" + std::to_string(loops) + ", " + std::to_string(static_cast<std::int64_t>(vectors));
    return {.read = rate_of("read_memory" + sizes + ">(from, to);", amount),
            .write = rate_of("write_memory" + sizes + ">(to);", amount),
            .copy = rate_of("copy_memory" + sizes + ">(from, to);", 2 * amount)};
  }

  /// Operations per second; an FMA counts as 2.
  double fragments(const std::string& type, int depth) {
    const double warps = static_cast<double>(blocks()) * kRateThreads / 32;
    const double product = 2.0 * 16 * 8 * depth;
    return rate_of(
        "run_mma<" + type + ", " + std::to_string(options_.compute_loops) + ">(reinterpret_cast<float*>(to));",
        warps * kMmaChains * options_.compute_loops * product);
  }
  double warpgroups(DType type) {
    const int loops = std::max(options_.compute_loops / 16, 1);  // each loop does 16 times as much work
    const double warpgroups = static_cast<double>(blocks()) * kRateThreads / 128;
    return rate_of("__shared__ __align__(1024) uint32 rows[kRowWords];\n  run_wgmma<" +
                       std::string(type == DType::kFloat16 ? "float16, " : "bfloat16, ") + std::to_string(loops) +
                       ">(rows, reinterpret_cast<float*>(to));",
                   warpgroups * loops * 2.0 * 64 * 256 * 64,
                   "#include \"warpgroup_rates.cuh\"\n" + wgmma_ss_source(type, 256));
  }
  double floats() {
    const double threads = static_cast<double>(blocks()) * kRateThreads;
    return rate_of("run_fma<" + std::to_string(options_.compute_loops) + ">(reinterpret_cast<float*>(to));",
                   threads * kFmaChains * options_.compute_loops * 2.0);
  }

  /// A graph of LAUNCHES empty kernels, each dependent on its predecessor.
  GraphExec idle_graph(int launches, bool overlaps) {
    const CUfunction kernel = function("");
    return capture(stream_.get(), "what a launch takes", [&] {
      for (int i = 0; i < launches; ++i) launch(kernel, overlaps);
    });
  }

  Seconds graph_time(int launches, bool overlaps) {
    const GraphExec graph = idle_graph(launches, overlaps);
    return Seconds(seconds_of([&] { SACCADE_CUDA(cuGraphLaunch(graph.get(), stream_.get())); }));
  }

  /// Launches a graph of one kernel and waits for it.
  Seconds run_time() {
    const GraphExec graph = idle_graph(1, false);
    return best_of([&] { SACCADE_CUDA(cuGraphLaunch(graph.get(), stream_.get())); });
  }

  Seconds best_of(const std::function<void()>& work) {
    auto least = Seconds::max();
    for (int window = 0; window < 10 * options_.windows; ++window) {
      const auto start = Clock::now();
      work();
      SACCADE_CUDA(cuStreamSynchronize(stream_.get()));
      least = std::min<Seconds>(least, Clock::now() - start);
    }
    return least;
  }

  GpuCopy copy_times(std::size_t bytes) {
    const PinnedMemory host = make_pinned(bytes);
    return {
        .bytes = bytes,
        .upload = best_of([&] { SACCADE_CUDA(cuMemcpyHtoDAsync_v2(to_.address(), host.get(), bytes, stream_.get())); }),
        .download =
            best_of([&] { SACCADE_CUDA(cuMemcpyDtoHAsync_v2(host.get(), from_.address(), bytes, stream_.get())); })};
  }

  Device& device_;
  GpuRateOptions options_;
  Stream stream_;
  Event start_;
  Event end_;
  DeviceMemory from_;
  DeviceMemory to_;
};

}  // namespace

GpuRates measure_rates(Device& device, const GpuRateOptions& options) { return Rates(device, options).measure(); }

}  // namespace saccade::cuda
