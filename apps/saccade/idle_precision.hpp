#pragma once

#include <chrono>
#include <functional>
#include <saccade/model.hpp>
#include <span>
#include <string>
#include <vector>

namespace saccade::app {

/// Decides Precision::kAuto for `run`: models start in fp32, or in what was decided for them before. For the others a
/// child process at idle priority (SCHED_IDLE) decides, from some seconds after the start on; the next run uses it.
/// Only on the CPU: a GPU has no idle priority, and there `compile` decides.
class IdlePrecision {
 public:
  using Say = std::function<void(const std::string& line)>;
  using Load = std::function<std::vector<Model>()>;

  /// Whether this process is such a child. It then calls decide_for() in the place of running.
  static bool is_child();
  /// Decides for the models of FILES, which LOAD loads, at idle priority, and stores it.
  static void decide_for(std::span<const std::string> files, const Load& load);

  /// Applies to MODELS what was decided before, and says it.
  IdlePrecision(std::span<const Model> models, Say say);
  /// Ends the child.
  ~IdlePrecision();
  IdlePrecision(const IdlePrecision&) = delete;
  IdlePrecision& operator=(const IdlePrecision&) = delete;

  /// Starts the child when it is time, and says what it has decided. Takes microseconds.
  void update();

 private:
  void start_child();
  void say_decisions() const;

  Say say_;
  std::vector<Model> undecided_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int child_ = 0;  ///< its process; 0: not started, or it has ended
};

}  // namespace saccade::app
