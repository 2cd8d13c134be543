#include "cuda/driver/index_reports.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "ops/core/index.hpp"

namespace saccade::cuda {

CUdeviceptr IndexReports::add(const std::string& node, const std::vector<std::int64_t>& dims) {
  const std::size_t bytes = dims.size() * sizeof(std::int64_t);
  Words& made = words_.emplace_back(Words{make_pinned(bytes), node, dims});
  std::memset(made.memory.get(), 0, bytes);
  return address_of(made.memory.get());
}

void IndexReports::check() {
  std::string report;
  for (const Words& words : words_) {
    const std::span indices(static_cast<std::int64_t*>(words.memory.get()), words.dims.size());
    for (std::size_t i = 0; i < indices.size() && report.empty(); ++i)
      if (indices[i] != 0) report = fmt::format("{}: {}", words.node, outside(indices[i], words.dims[i]));
  }
  if (report.empty()) return;  // a run that is under way may be writing one
  reset();
  throw Error(ErrorCode::kInvalidArgument, report);
}

void IndexReports::reset() {
  for (const Words& words : words_) std::memset(words.memory.get(), 0, words.dims.size() * sizeof(std::int64_t));
}

}  // namespace saccade::cuda
