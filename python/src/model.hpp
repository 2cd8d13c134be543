#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "result.hpp"
#include "saccade/frame_session.hpp"
#include "saccade/model.hpp"

namespace saccade::python {

/// A model with a session for each thread that uses it at a time.
class PyModel {
 public:
  PyModel(std::string path, const ModelOptions& options)
      : path_(std::move(path)), options_(options), model_(Model::load(path_, options)) {}

  const Model& get() const { return model_; }
  /// The same model with OPTIONS' tracker in place of its own.
  Model tracking(const TrackerOptions& tracker) const;
  Categories categories();

  /// The predictions for IMAGE. Called with the GIL, which it releases.
  PyResult run(ImageArgument image);

 private:
  Result run_unlocked(const FrameView& frame);

  std::string path_;
  ModelOptions options_;
  Model model_;
  std::once_flag is_categorised_;
  Categories categories_;
  std::mutex mutex_;  ///< of the sessions
  std::vector<std::unique_ptr<FrameSession>> idle_;
};

/// Throws Error if this process is a fork of the one that imported the package: the threads of the engine are not in
/// it.
bool has_forked();
void check_process();

/// Adds Model and TensorInfo to MODULE.
void define_model(nb::module_& module);

}  // namespace saccade::python
