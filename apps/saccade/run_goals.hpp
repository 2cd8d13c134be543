#pragma once

#include <chrono>
#include <memory>
#include <saccade/model.hpp>
#include <saccade/source.hpp>
#include <saccade/summary.hpp>
#include <span>
#include <string>

namespace saccade::app {

/// Whether a run met its goals.
struct Verdict {
  bool met = true;
  std::string text;  ///< a line a goal
  std::string json;  ///< {"event":"verdict",...} on one line
};

/// The goals of `run --goals`.
class RunGoals {
 public:
  /// Those of FILE, for a run of the models of FILES, whose precisions are decided, on SOURCES; an empty FILE has none.
  /// Throws Error, also for a goal of another source or model, or an accuracy of another precision.
  RunGoals(const std::string& file, std::span<const Source> sources, std::span<const Model> models,
           std::span<const std::string> files);
  ~RunGoals();
  RunGoals(const RunGoals&) = delete;
  RunGoals& operator=(const RunGoals&) = delete;

  /// Whether there are any.
  explicit operator bool() const;
  /// The shortest latency that a goal allows; 0: there is none.
  std::chrono::nanoseconds latency() const;
  /// On the run that ends now with SUMMARY.
  Verdict verdict(const Summary& summary) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::app
