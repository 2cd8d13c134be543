#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <filesystem>
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

/// A file as it was, by which a change is noticed. A file that is missing has neither size nor time.
struct KnownFile {
  explicit KnownFile(const std::filesystem::path& file);

  std::filesystem::path path;  ///< absolute: the working directory may change
  std::uintmax_t bytes = 0;
  std::filesystem::file_time_type written;

  bool operator==(const KnownFile&) const = default;
};

/// A model with a session for each thread that uses it at a time.
class PyModel {
 public:
  PyModel(const std::string& path, const ModelOptions& options);

  const Model& get() const { return model_; }
  /// The same model with TRACKER in place of its own, which is read again. Throws Error, also if its files have
  /// changed.
  Model tracking(const TrackerOptions& tracker) const;
  Categories categories();

  /// The predictions for IMAGE. Called with the GIL, which it releases.
  PyResult run(ImageArgument image);

 private:
  Result run_unlocked(const FrameView& frame);

  KnownFile file_;
  KnownFile card_;  ///< the given one, or where that beside the model is or would be
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
