#include "vision/decoders/geometry.hpp"

namespace saccade {
namespace {

/// [1, A, N] of what NUMBERS(anchor) gives.
template <typename Numbers>
ValueId table(Fragment& post, const std::vector<Anchor>& anchors, std::int64_t width, const Numbers& numbers) {
  std::vector<float> values;
  values.reserve(anchors.size() * static_cast<std::size_t>(width));
  for (const Anchor& anchor : anchors)
    for (std::int64_t i = 0; i < width; ++i) values.push_back(numbers(anchor, i));
  return post.floats({1, static_cast<std::int64_t>(anchors.size()), width}, values);
}

}  // namespace

std::int64_t cells_along(int size, int stride, bool ceiling) {
  return ceiling ? (size + stride - 1) / stride : size / stride;
}

std::int64_t cells_rounded_up(const Card& card, const std::vector<int>& strides) {
  std::int64_t sum = 0;
  for (int stride : strides) sum += cells_along(card.width, stride, true) * cells_along(card.height, stride, true);
  return sum;
}

std::vector<Anchor> grid_anchors(const Card& card, const std::vector<int>& strides, const GridOptions& options) {
  std::vector<Anchor> anchors;
  for (int stride : strides) {
    const auto pixels = static_cast<float>(stride);
    const std::int64_t columns = cells_along(card.width, stride, options.ceiling);
    const std::int64_t rows = cells_along(card.height, stride, options.ceiling);
    for (std::int64_t cell = 0; cell < rows * columns; ++cell) {
      const std::int64_t row = cell / columns;
      const Anchor anchor{(static_cast<float>(cell % columns) + options.offset) * pixels,
                          (static_cast<float>(row) + options.offset) * pixels, pixels, pixels};
      anchors.insert(anchors.end(), static_cast<std::size_t>(options.anchors), anchor);
    }
  }
  return anchors;
}

ValueId anchor_points(Fragment& post, const std::vector<Anchor>& anchors) {
  return table(post, anchors, 2, [](const Anchor& a, std::int64_t i) { return i == 0 ? a.x : a.y; });
}

ValueId anchor_sizes(Fragment& post, const std::vector<Anchor>& anchors, float factor) {
  return table(post, anchors, 2,
               [&](const Anchor& a, std::int64_t i) { return (i == 0 ? a.width : a.height) * factor; });
}

ValueId corners_of(Fragment& post, ValueId boxes) {
  return corners_of(post, post.slice(boxes, 2, 0, 2), post.slice(boxes, 2, 2, 4));
}

ValueId corners_of(Fragment& post, ValueId centres, ValueId sizes) {
  const ValueId half = post.op("Mul", {sizes, post.number(0.5F)});
  return post.concat({post.op("Sub", {centres, half}), post.op("Add", {centres, half})}, 2);
}

ValueId corners_around(Fragment& post, ValueId distances, const std::vector<Anchor>& anchors) {
  const ValueId scale = table(post, anchors, 4, [](const Anchor& a, std::int64_t i) {
    return (i < 2 ? -1.0F : 1.0F) * (i % 2 == 0 ? a.width : a.height);
  });
  const ValueId from = table(post, anchors, 4, [](const Anchor& a, std::int64_t i) { return i % 2 == 0 ? a.x : a.y; });
  return post.op("Add", {post.op("Mul", {distances, scale}), from});
}

ValueId to_pixels(Attachment& to, ValueId boxes) {
  const auto width = static_cast<float>(to.card.width);
  const auto height = static_cast<float>(to.card.height);
  return to.post.op("Mul", {boxes, to.post.floats({4}, {width, height, width, height})});
}

ValueId reorder(Fragment& post, ValueId boxes, const std::vector<std::int64_t>& order) {
  return post.gather(boxes, 2, post.ints(order));
}

ValueId points_around(Fragment& post, ValueId points, const std::vector<Anchor>& anchors, float factor) {
  const std::int64_t numbers = post.shape(points)[2];
  const ValueId scale = table(post, anchors, numbers, [&](const Anchor& a, std::int64_t i) {
    return (i % 2 == 0 ? a.width : a.height) * factor;
  });
  const ValueId from =
      table(post, anchors, numbers, [](const Anchor& a, std::int64_t i) { return i % 2 == 0 ? a.x : a.y; });
  return post.op("Add", {post.op("Mul", {points, scale}), from});
}

}  // namespace saccade
