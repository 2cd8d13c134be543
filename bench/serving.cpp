// Requests that a server's model takes at best, beside a loop over the same session, without a network: what
// docs/serve.md says about saturation. SACCADE_MODEL is the file; SACCADE_DEVICE (cpu), SACCADE_PRECISION (auto),
// SACCADE_EXECUTIONS (1), and SACCADE_BATCH (1) are those of `saccade serve`. served/N: N clients, each of which has
// one request under way.
#include <benchmark/benchmark.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "serve/served_model.hpp"

namespace saccade::serve {
namespace {

std::string setting(const char* name, const std::string& otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : text;
}

/// Compiled once: the library calls a benchmark several times.
const Model& the_model() {
  static const Model model = Model::load(setting("SACCADE_MODEL", "models/scene_model.onnx"),
                                         {.device = Device::parse(setting("SACCADE_DEVICE", "cpu")),
                                          .precision = parse_precision(setting("SACCADE_PRECISION", "auto"))});
  return model;
}

/// Zeros for each input of a model.
class Inputs {
 public:
  explicit Inputs(const Model& model) {
    for (const TensorInfo& input : model.inputs()) {
      const auto bytes = static_cast<std::size_t>(input.shape.elements() * bits_of(input.dtype) / 8);
      elements_.emplace_back(bytes);
      buffers_.push_back({.data = elements_.back().data(), .dtype = input.dtype, .shape = input.shape});
    }
  }
  std::span<const InputBuffer> get() const { return buffers_; }

 private:
  std::vector<std::vector<std::byte>> elements_;
  std::vector<InputBuffer> buffers_;
};

/// Requests that are under way.
class UnderWay {
 public:
  void wait_for_fewer_than(int most) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ < most; });
  }
  void add(int change) {
    const std::scoped_lock lock(mutex_);
    count_ += change;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class Request final : public Job {
 public:
  Request(const Inputs& inputs, UnderWay& under_way) : inputs_(inputs), under_way_(under_way) { under_way_.add(1); }
  ~Request() override { under_way_.add(-1); }

  bool prepare() override { return true; }
  JobInput input() const override { return TensorInput{inputs_.get(), 1}; }
  std::optional<Clock::time_point> deadline() const override { return std::nullopt; }
  Response respond(std::span<const OutputBuffer> outputs) override {
    benchmark::DoNotOptimize(outputs.data());
    return Response::kSent;
  }
  Response respond(const Result& /*result*/) override { return Response::kSent; }
  void refuse(Refusal /*reason*/, std::chrono::nanoseconds /*expected_wait*/) override { std::abort(); }
  void fail(const Error& error) override {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }

 private:
  const Inputs& inputs_;
  UnderWay& under_way_;
};

void session(benchmark::State& state) {
  const Model& model = the_model();
  const Inputs inputs(model);
  Session session(model);
  std::vector<std::vector<std::byte>> elements;
  std::vector<OutputBuffer> outputs;
  for (const TensorInfo& output : model.outputs()) {
    elements.emplace_back(static_cast<std::size_t>(output.shape.elements() * bits_of(output.dtype) / 8));
    outputs.push_back({.data = elements.back().data(), .bytes = elements.back().size(), .dtype = output.dtype});
  }
  for (auto _ : state) session.run(inputs.get(), outputs);
  state.counters["requests"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void served(benchmark::State& state) {
  const auto clients = static_cast<int>(state.range(0));
  Workers workers(1);
  ServedModel model(the_model(),
                    {.executions = std::stoul(setting("SACCADE_EXECUTIONS", "1")),
                     .queue = static_cast<std::size_t>(clients) + 1,
                     .batch = std::stoul(setting("SACCADE_BATCH", "1"))},
                    workers);
  const Inputs inputs(model.model());
  UnderWay under_way;
  for (auto _ : state) {
    under_way.wait_for_fewer_than(clients);
    model.submit(std::make_unique<Request>(inputs, under_way), ServedModel::Preparation::kShort);
  }
  under_way.wait_for_fewer_than(1);
  state.counters["requests"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK(session)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(served)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saccade::serve
