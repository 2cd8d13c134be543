#include "run_faults.hpp"

#include "base/log.hpp"

namespace saccade::app {

void RunFaults::add(const Failure& failure) {
  if (first_.empty()) first_ = failure.message;
  std::string warning = failure.message;
  if (failure.status == Status::kFailed) {
    // "SOURCE, frame 7: MODEL: ..."
    if (!failing_.insert(warning.substr(0, warning.find(", frame "))).second) return;
    warning += "; further frames of this source that fail are only counted";
  } else if (failure.status != Status::kLost) {
    return;
  }
  if (held_.empty()) held_since_ = std::chrono::steady_clock::now();
  held_.push_back(std::move(warning));
}

void RunFaults::update(bool has_result) {
  if (held_.empty() || (!has_result && std::chrono::steady_clock::now() - held_since_ < patience_)) return;
  for (const std::string& warning : held_) log(LogLevel::kWarning, "{}", warning);
  held_.clear();
}

}  // namespace saccade::app
