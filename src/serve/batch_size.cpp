#include "serve/batch_size.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/model/tensor_batches.hpp"
#include "pipeline/stream/batch_choice.hpp"
#include "serve/job.hpp"

namespace saccade::serve {
namespace {

/// The median time of a run on zeros.
std::chrono::nanoseconds time_run(const Model& model, std::size_t images) {
  Execution execution = open_execution(model.name(), impl_of(model).tensor_batch_plan(images).plan);
  const TensorView input = execution.input(0);
  if (input.bytes() > 0) std::memset(input.data, 0, input.bytes());
  std::array<std::chrono::nanoseconds, 5> times{};
  execution.run();  // the first one allocates
  for (auto& time : times) {
    const Clock::time_point start = Clock::now();
    execution.run();
    time = Clock::now() - start;
  }
  std::ranges::nth_element(times, times.begin() + times.size() / 2);
  return times[times.size() / 2];
}

}  // namespace

std::size_t fastest_batch(const Model& model) {
  constexpr std::size_t kMost = 32;
  std::vector<BatchTime> times;
  try {
    for (std::size_t images = 1; images <= kMost; images *= 2) times.push_back({images, time_run(model, images)});
  } catch (const Error& error) {
    // Not shown to keep images apart, or zeros are no valid input.
    if (!is_of_request(error)) throw;
    log(LogLevel::kInfo, "{} runs one image at a time: {}", model.name(), error.what());
    return 1;
  }
  return choose_batch(times, {}).images;
}

}  // namespace saccade::serve
