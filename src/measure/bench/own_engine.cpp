#include "measure/bench/own_engine.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <exception>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "measure/bench/interleave.hpp"

namespace saccade {
namespace {

using std::chrono::nanoseconds;

/// State that only one stream's thread accesses while a block runs.
struct InferenceThread {
  Inference inference;
  std::vector<nanoseconds> latencies;
  std::array<std::vector<nanoseconds>, 3> stages;
  Clock::time_point start;
  Clock::time_point end;
  std::exception_ptr error;
};

}  // namespace

struct OwnEngine::Streams {
  Streams(const std::function<Inference()>& maker, int count)
      : make(maker), begin(count + 1), measured(count), end(count + 1), all(static_cast<std::size_t>(count)) {
    try {
      for (InferenceThread& stream : all) threads.emplace_back([this, &stream] { serve(stream); });
    } catch (const std::system_error& error) {
      for (std::size_t i = threads.size(); i < all.size(); ++i) begin.arrive_and_drop();
      leave();
      fail(ErrorCode::kUnsupported, "{} streams can't be started ({}): use fewer", count, error.code().message());
    }
  }

  ~Streams() { leave(); }

  void leave() {
    over = true;
    begin.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
  }

  void serve(InferenceThread& stream) {
    while (true) {
      begin.arrive_and_wait();
      if (over) return;
      guarded(stream, [&] {
        if (!stream.inference) stream.inference = make();
        for (int i = 0; i < unmeasured; ++i) stream.inference();
      });
      measured.arrive_and_wait();
      guarded(stream, [&] { measure(stream); });
      // A failed stream does not block the others.
      if (stream.error) ++finished;
      end.arrive_and_wait();
    }
  }

  template <typename Work>
  static void guarded(InferenceThread& stream, const Work& work) {
    if (stream.error) return;
    try {
      work();
    } catch (...) {
      stream.error = std::current_exception();
    }
  }

  void measure(InferenceThread& stream) {
    stream.latencies.clear();
    for (auto& times : stream.stages) times.clear();
    stream.start = stream.end = Clock::now();
    bool is_finished = false;
    while (!is_finished || finished < static_cast<int>(all.size())) {
      const auto start = Clock::now();
      const InferenceTimes stages = stream.inference();
      stream.end = Clock::now();
      stream.latencies.push_back(stream.end - start);
      for (std::size_t i = 0; i < stages.size(); ++i) stream.stages[i].push_back(stages[i]);
      if (is_finished || static_cast<int>(stream.latencies.size()) < runs) continue;
      is_finished = true;
      ++finished;
    }
  }

  std::function<Inference()> make;
  std::barrier<> begin;
  std::barrier<> measured;
  std::barrier<> end;
  int unmeasured = 0;
  int runs = 0;
  bool over = false;
  std::atomic<int> finished = 0;
  std::vector<InferenceThread> all;
  std::vector<std::thread> threads;
};

OwnEngine::OwnEngine(const std::function<Inference()>& make, int streams)
    : streams_(std::make_unique<Streams>(make, streams)) {}

OwnEngine::~OwnEngine() = default;

Block OwnEngine::run(int unmeasured, int runs) {
  Streams& streams = *streams_;
  streams.unmeasured = unmeasured;
  streams.runs = runs;
  streams.finished = 0;
  streams.begin.arrive_and_wait();
  streams.end.arrive_and_wait();
  Block block;
  auto first = Clock::time_point::max();
  auto last = Clock::time_point::min();
  for (InferenceThread& stream : streams.all) {
    if (stream.error) std::rethrow_exception(std::exchange(stream.error, nullptr));
    block.latencies.insert(block.latencies.end(), stream.latencies.begin(), stream.latencies.end());
    for (std::size_t i = 0; i < block.stages.size(); ++i)
      block.stages[i].insert(block.stages[i].end(), stream.stages[i].begin(), stream.stages[i].end());
    first = std::min(first, stream.start);
    last = std::max(last, stream.end);
  }
  block.wall = last - first;
  return block;
}

void OwnEngine::wait_until_idle() { saccade::wait_until_idle(); }

}  // namespace saccade
