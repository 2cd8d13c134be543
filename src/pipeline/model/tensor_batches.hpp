#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pipeline/model/model_impl.hpp"

namespace saccade {

/// A model compiled for several images at once, on raw tensors. Owns the mutable memory: one thread at a time.
class TensorBatches {
 public:
  /// Compiles MODEL for 1, 2, 4, 8 ... up to MOST images. Throws Error, (kUnsupported) if the model has several inputs,
  /// or can't be shown to keep images apart.
  TensorBatches(const Model& model, std::size_t most);

  /// Where the images of a batch lie in each output; nullopt: it does not depend on the image.
  std::span<const std::optional<ImageAxis>> axes() const { return sizes_.back().plan->axes; }
  /// Runs on IMAGES, as many as the constructor's MOST: the elements of one each, dense and row-major, of any
  /// alignment. Throws Error if they are invalid for an operator.
  void run(std::span<const std::byte* const> images);
  /// The shape of output I for COUNT images.
  Shape output_shape(std::size_t i, std::size_t count) const;
  /// Copies output I for COUNT images of the last run, from number FIRST on, to TO: dense and row-major, of
  /// output_shape().
  void read(std::size_t i, std::size_t first, std::size_t count, std::byte* to) const;

 private:
  struct Size {
    std::size_t images = 1;
    const TensorBatchPlan* plan = nullptr;
    Execution execution;
  };

  Model model_;
  std::vector<Size> sizes_;  ///< ascending
  std::size_t last_ = 0;     ///< index of the last run's
};

}  // namespace saccade
