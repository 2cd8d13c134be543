#include "serve/serve_state.hpp"

#include <algorithm>
#include <bit>

namespace saccade::serve {

void ModelUse::add_execution(std::size_t of_images) {
  ++executions;
  images += of_images;
  const auto bound = static_cast<std::size_t>(std::bit_width(std::bit_ceil(of_images)));
  batches.resize(std::max(batches.size(), bound));
  ++batches[bound - 1];
}

ModelUse& ModelUse::operator+=(const ModelUse& more) {
  run += more.run;
  failed += more.failed;
  invalid += more.invalid;
  refused += more.refused;
  cancelled += more.cancelled;
  executions += more.executions;
  images += more.images;
  waiting += more.waiting;
  latency.add(more.latency);
  batches.resize(std::max(batches.size(), more.batches.size()));
  for (std::size_t i = 0; i < more.batches.size(); ++i) batches[i] += more.batches[i];
  return *this;
}

}  // namespace saccade::serve
