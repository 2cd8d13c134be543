#include "pipeline/model/tensor_batches.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "pipeline/model/model_set.hpp"

namespace saccade {

TensorBatches::TensorBatches(const Model& model, std::size_t most) : model_(model) {
  for (const std::size_t images : batch_sizes_up_to(most)) {
    const TensorBatchPlan& plan = impl_of(model).tensor_batch_plan(images);
    sizes_.push_back({images, &plan, open_execution(model.name(), plan.plan)});
  }
}

void TensorBatches::run(std::span<const std::byte* const> images) {
  const auto size = std::ranges::find_if(sizes_, [&](const Size& each) { return each.images >= images.size(); });
  if (images.empty() || size == sizes_.end())
    fail(ErrorCode::kInternal, "{}: {} images are no batch of 1 to {}", model_.name(), images.size(),
         sizes_.back().images);
  last_ = static_cast<std::size_t>(size - sizes_.begin());
  const TensorView input = size->execution.input(0);
  const std::size_t bytes = input.bytes() / size->images;
  for (std::size_t i = 0; i < size->images && bytes > 0; ++i) {
    // Places without an image repeat the first one.
    const std::byte* from = images[i < images.size() ? i : 0];
    std::memcpy(static_cast<std::byte*>(input.data) + i * bytes, from, bytes);
  }
  try {
    size->execution.run();
  } catch (const Error& error) {
    throw error.in(model_.name());
  }
}

Shape TensorBatches::output_shape(std::size_t i, std::size_t count) const {
  Shape shape = model_.outputs()[i].shape;
  if (const auto& at = axes()[i]) shape[at->axis] *= static_cast<std::int64_t>(count);
  return shape;
}

void TensorBatches::read(std::size_t i, std::size_t first, std::size_t count, std::byte* to) const {
  const Size& size = sizes_[last_];
  const TensorView output = size.execution.output(i);
  if (output.bytes() == 0) return;
  const auto* from = static_cast<const std::byte*>(output.data);
  // Along the axis lie outer times all images: [before, outer, images, inner, after].
  const auto& at = size.plan->axes[i];
  std::size_t runs = 1;
  if (at) {
    for (int axis = 0; axis < at->axis; ++axis) runs *= static_cast<std::size_t>(output.shape[axis]);
    runs *= static_cast<std::size_t>(at->outer);
  }
  const std::size_t run_bytes = output.bytes() / runs;
  const std::size_t bytes = at ? run_bytes / size.images : run_bytes;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t copied = at ? count * bytes : bytes;
    std::memcpy(to, from + run * run_bytes + (at ? first * bytes : 0), copied);
    to += copied;
  }
}

}  // namespace saccade
