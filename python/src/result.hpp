#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "saccade/results.hpp"

namespace saccade::python {

/// The categories of a model in COCO's format, by class ID.
using Categories = std::shared_ptr<const std::vector<int>>;

/// A result that Python holds: a clone, with the pixels of its frame if they are known.
class PyResult {
 public:
  /// RESULT is a clone; IMAGE its frame, without a size if it is unknown.
  PyResult(Result result, ImageArgument image, Categories categories)
      : result_(std::move(result)), image_(std::move(image)), categories_(std::move(categories)) {}

  const Result& get() const { return result_; }
  /// The order of colours of what is drawn.
  PixelFormat color() const { return image_.color; }
  /// Of the class CLASS_ID.
  int category(int class_id) const;
  bool has_frame() const { return image_.view.width > 0; }
  /// Throws Error (kInvalidArgument) if the pixels were not kept.
  const FrameView& frame() const;

 private:
  Result result_;
  mutable ImageArgument image_;  // copied to the host when its pixels are first asked for
  Categories categories_;
};

/// Adds Result and what it consists of to MODULE.
void define_results(nb::module_& module);

}  // namespace saccade::python
