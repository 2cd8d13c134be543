#pragma once

#include <saccade/model.hpp>
#include <string>
#include <utility>
#include <vector>

#include "flags/binder.hpp"
#include "model_values.hpp"

namespace saccade::app {

/// The values of the flags that several commands share.
struct CommonFlags {
  ModelOptions model;
  bool json = false;

  /// Binds device and compilation.
  void bind(FlagBinder& binder);
  /// The same for a command whose --precision is a list of its own.
  void bind_all_but_precision(FlagBinder& binder);
  /// The same for a command whose --device is a list: DEVICES, empty if it names one.
  void bind_with_devices(FlagBinder& binder, std::vector<Device>& devices);
  /// Binds the log level and the kind of output only, for commands that run no model.
  void bind_output(FlagBinder& binder);
  /// Binds cards and post-processing, for commands that decode predictions.
  void bind_predictions(FlagBinder& binder);
  /// The same for a command whose --conf, --iou and --classes may name a model.
  void bind_predictions(FlagBinder& binder, ModelValues& values);
  /// Binds the tracker, for commands that run on streams.
  void bind_tracker(FlagBinder& binder);
  /// Binds tiles, for commands that run on frames.
  void bind_tiles(FlagBinder& binder);

 private:
  void bind_device(FlagBinder& binder);
  void bind_precision(FlagBinder& binder);
  void bind_compilation(FlagBinder& binder);
  void bind_selection(FlagBinder& binder);
};

/// "X,Y,WIDTH,HEIGHT" in pixels. Throws UsageError about FLAG.
Region parse_region(const char* flag, const std::string& text);

/// Splits "NAME=VALUE"; NAME may contain '='.
std::pair<std::string, std::string> split_assignment(const std::string& text);

}  // namespace saccade::app
