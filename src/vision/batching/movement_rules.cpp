#include <algorithm>
#include <limits>

#include "ops/core/op.hpp"
#include "vision/batching/batch_step.hpp"

// Operators that move elements.
namespace saccade {
namespace {

std::int64_t elements_before(const Shape& shape, int axis) {
  std::int64_t count = 1;
  for (int i = 0; i < axis; ++i) count *= shape[i];
  return count;
}

int axis_attribute(const BatchStep& step, std::int64_t otherwise, int rank) {
  return InferContext::axis(step.attributes().integer("axis", otherwise), rank);
}

}  // namespace

std::optional<ImageAxis> reshaped_axis(const Shape& old, ImageAxis from, const Shape& shape) {
  // The images follow so many elements.
  const std::int64_t before = elements_before(old, from.axis) * from.outer;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t above = elements_before(shape, axis);
    if (above == before) {
      // Between two dimensions: usually it is the product of images and features that is taken apart or put together,
      // except that the last dimension has the features of one image.
      const bool joins_features = axis > 0 && axis + 1 == shape.rank() && shape[axis] != 1;
      if (joins_features) return ImageAxis{axis - 1, 1, shape[axis - 1]};
      return ImageAxis{axis, shape[axis], 1};
    }
    if (above * shape[axis] > before) {
      const std::int64_t outer = before / above;
      if (before % above != 0 || shape[axis] % outer != 0) return std::nullopt;
      return ImageAxis{axis, shape[axis] / outer, outer};
    }
  }
  if (elements_before(shape, shape.rank()) == before && shape.rank() > 0)
    return ImageAxis{shape.rank() - 1, 1, shape.back()};
  return std::nullopt;
}

void batch_transpose(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  const int rank = step.shape(0).rank();
  const std::vector<std::int64_t> perm = step.attributes().integers("perm");
  for (int i = 0; i < rank; ++i) {
    const std::int64_t source = perm.empty() ? rank - 1 - i : perm[static_cast<std::size_t>(i)];
    if (source == from.axis) step.keep({i, from.inner, from.outer});
  }
}

/// Any view.
void batch_reshape(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  step.require_shared_from(1);
  const auto axis = reshaped_axis(step.shape(0), from, step.output_shape());
  if (!axis)
    step.refuse(fmt::format("it turns {} into {}, which mixes axis {} with those before it", step.shape(0).to_string(),
                            step.output_shape().to_string(), from.axis));
  step.become_reshape(*axis);
}

/// The axes are known, unlike those of other views.
void batch_unsqueeze(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  std::vector<bool> is_new(static_cast<std::size_t>(step.output_shape().rank()));
  for (const std::int64_t axis : step.integers(1))
    is_new[static_cast<std::size_t>(InferContext::axis(axis, step.output_shape().rank()))] = true;
  int old = 0;
  for (std::size_t i = 0; i < is_new.size(); ++i)
    if (!is_new[i] && old++ == from.axis) step.keep({static_cast<int>(i), from.inner, from.outer});
}

/// The images' own dimension may be among them.
void batch_squeeze(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  const std::vector<int> axes = step.axes_of("axes", 1);
  const auto is_gone = [&](int axis) {
    return axes.empty() ? step.shape(0)[axis] == 1 : std::ranges::count(axes, axis) != 0;
  };
  if (axes.empty() || is_gone(from.axis)) {
    batch_reshape(step);
    return;
  }
  int made = 0;
  for (int axis = 0; axis < from.axis; ++axis) made += is_gone(axis) ? 0 : 1;
  step.keep({made, from.inner, from.outer});
}

void batch_expand(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  const Shape& made = step.output_shape();
  const int axis = from.axis + made.rank() - step.shape(0).rank();
  if (made[axis] != from.per_image()) step.refuse("it repeats the axis of the images");
  std::vector<std::int64_t> target(made.begin(), made.end());
  target[static_cast<std::size_t>(axis)] *= step.images();
  step.replace(1, target);
  step.keep({axis, from.inner, from.outer});
}

void batch_tile(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  const std::vector<std::int64_t> repeats = step.integers(1);
  const std::int64_t copies = repeats[static_cast<std::size_t>(from.axis)];
  if (copies == 1) {
    step.keep(from);
    return;
  }
  // The copies of an image follow each other.
  if (from.outer != 1 || std::ranges::count(repeats, 1) + 1 != static_cast<std::ptrdiff_t>(repeats.size()))
    step.refuse("it repeats the axis of the images");
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < copies * from.inner; ++i) indices.push_back(i % from.inner);
  step.become_gather({from.axis, copies * from.inner}, indices);
}

namespace {

/// Joins every STRIDE-th input from FIRST on; the others are parameters.
void join(BatchStep& step, std::size_t first, std::size_t stride) {
  if (step.inputs() == first + 1) {
    step.keep(step.required_axis(first));
    return;
  }
  const int joined = axis_attribute(step, 0, step.output_shape().rank());
  std::optional<ImageAxis> at;
  for (std::size_t i = first; i < step.inputs(); i += stride)
    if (step.varies(i) && !at) at = step.axis(i);
  if (!at) step.refuse("its scales depend on the image");
  if (joined == at->axis) step.refuse("it joins them along their axis");
  for (std::size_t i = first; i < step.inputs(); i += stride) {
    if (step.varies(i) && *step.axis(i) != *at && !step.can_align(i, *at))
      step.refuse("its inputs have the images along different axes");
    if (!step.varies(i) && at->outer != 1) step.refuse("it repeats the axis of the images");
    step.varies(i) ? step.align(i, *at) : step.repeat(i, at->axis);
  }
  step.keep(*at);
}

}  // namespace

void batch_concat(BatchStep& step) { join(step, 0, 1); }

/// After the output's scale and zero point, each input has its own two.
void batch_quantized_concat(BatchStep& step) { join(step, 2, 3); }

void batch_split(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  step.require_shared_from(1);
  if (axis_attribute(step, 0, step.shape(0).rank()) == from.axis) step.refuse("it splits the axis of the images");
  step.keep(from);
}

void batch_slice(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  step.require_shared_from(1);
  const std::size_t count = step.integers(1).size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t given = step.has(3) ? step.integers(3)[i] : static_cast<std::int64_t>(i);
    if (InferContext::axis(given, step.shape(0).rank()) != from.axis) continue;
    const bool forward = !step.has(4) || step.integers(4)[i] == 1;
    if (!forward || step.integers(1)[i] != 0 || step.output_shape()[from.axis] != from.per_image())
      step.refuse("it takes a part of the axis of the images");
    std::vector<std::int64_t> ends = step.integers(2);
    ends[i] = std::numeric_limits<std::int64_t>::max();
    step.replace(2, std::move(ends));
  }
  step.keep(from);
}

void batch_gather(BatchStep& step) {
  const int axis = axis_attribute(step, 0, step.shape(0).rank());
  const int indices = step.shape(1).rank();
  if (!step.varies(0)) {
    const ImageAxis from = step.required_axis(1);
    step.keep({axis + from.axis, from.inner, from.outer});
    return;
  }
  const ImageAxis from = step.required_axis(0);
  step.require_shared_from(1);
  if (from.axis != axis) {
    step.keep({from.axis < axis ? from.axis : from.axis - 1 + indices, from.inner, from.outer});
    return;
  }
  // The only image, x[0]: what follows belongs to each of them.
  if (from.per_image() != 1) step.refuse("it takes a part of the axis of the images");
  batch_reshape(step);
}

void batch_gather_elements(BatchStep& step) {
  const ImageAxis from = step.required_axis(step.varies(0) ? 0 : 1);
  if (axis_attribute(step, 0, step.shape(0).rank()) == from.axis) step.refuse("its indices count the images");
  for (const std::size_t i : {0U, 1U}) {
    if (step.varies(i) ? *step.axis(i) != from : step.shape(i)[from.axis] != from.per_image())
      step.refuse("its data and indices have the images along different axes");
    if (!step.varies(i)) step.repeat(i, from.axis);
  }
  step.keep(from);
}

void batch_gather_nd(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  if (from.axis >= step.attributes().integer("batch_dims", 0)) step.refuse("its indices count the images");
  if (!step.varies(1)) step.repeat(1, from.axis);
  if (step.varies(1) && *step.axis(1) != from) step.refuse("its data and indices have the images along different axes");
  step.keep(from);
}

void batch_scatter_elements(BatchStep& step) {
  std::optional<ImageAxis> at;
  for (std::size_t i = 0; i < 3; ++i) {
    if (at && step.varies(i) && *at != *step.axis(i)) step.refuse("its inputs have the images along different axes");
    if (step.varies(i)) at = step.axis(i);
  }
  if (axis_attribute(step, 0, step.shape(0).rank()) == at->axis) step.refuse("its indices count the images");
  for (std::size_t i = 0; i < 3; ++i) {
    if (step.shape(i)[at->axis] != at->per_image()) step.refuse("it changes a part of the images only");
    if (!step.varies(i)) step.repeat(i, at->axis);
  }
  step.keep(*at);
}

void batch_pad(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  step.require_shared_from(1);
  if (step.output_shape()[from.axis] != from.per_image()) step.refuse("it pads the axis of the images");
  const std::vector<std::int64_t> pads = step.integers(1);
  const std::vector<int> axes = step.axes_of("axes", 3);
  const std::size_t count = pads.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const int axis = axes.empty() ? static_cast<int>(i) : axes[i];
    if (axis == from.axis && (pads[i] != 0 || pads[i + count] != 0)) step.refuse("it pads the axis of the images");
  }
  step.keep(from);
}

}  // namespace saccade
