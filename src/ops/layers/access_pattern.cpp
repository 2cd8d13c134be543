#include "ops/layers/access_pattern.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {
namespace {

/// The dimensions of a shape, consumed by steps through them: row-major, with the remaining length of each.
class Dimensions {
 public:
  Dimensions(const Shape& shape, std::int64_t offset) : shape_(shape), steps_(Shape::filled(shape.rank(), 1)) {
    for (int i = shape.rank() - 1; i > 0; --i) steps_[i - 1] = steps_[i] * shape[i];
    used_ = Shape::filled(shape.rank(), 0);
    for (int i = 0; i < shape.rank(); ++i) {
      used_[i] = offset / steps_[i];
      offset %= steps_[i];
    }
  }

  const Shape& start() const { return used_; }

  /// A loop within one dimension, with a step of STRIDE of its elements.
  struct Part {
    int dimension = 0;
    std::int64_t count = 1;
    std::int64_t stride = 0;
  };

  /// Splits LOOP, whose step is not 0, into loops within one dimension each, outermost first.
  std::optional<std::vector<Part>> take(AffineLoop affine) {
    std::vector<Part> parts;
    for (int i = shape_.rank() - 1; i >= 0 && affine.count > 1; --i) {
      if (shape_[i] == 1 || affine.step >= steps_[i] * shape_[i]) continue;
      if (affine.step % steps_[i] != 0) return std::nullopt;
      const std::int64_t stride = affine.step / steps_[i];
      std::int64_t count = affine.count;
      if (used_[i] + stride * (count - 1) >= shape_[i]) {
        count = shape_[i] / stride;
        if (shape_[i] % stride != 0 || affine.count % count != 0 || used_[i] + stride * (count - 1) >= shape_[i])
          return std::nullopt;
      }
      used_[i] += stride * (count - 1);
      parts.insert(parts.begin(), {i, count, stride});
      affine = {affine.count / count, affine.step * count};
    }
    if (affine.count > 1) return std::nullopt;
    return parts;
  }

 private:
  Shape shape_;
  Shape steps_;
  Shape used_;
};

}  // namespace

std::int64_t AccessPattern::iterations(std::size_t loop) const {
  std::int64_t iterations = 1;
  for (const AffineLoop& affine : loops[loop]) iterations *= affine.count;
  return iterations;
}

std::int64_t AccessPattern::along(std::size_t loop, std::int64_t iteration) const {
  std::int64_t along = 0;
  for (auto affine = loops[loop].rbegin(); affine != loops[loop].rend(); ++affine) {
    along += iteration % affine->count * affine->step;
    iteration /= affine->count;
  }
  return along;
}

bool AccessPattern::is_constant(std::size_t loop) const {
  return std::ranges::all_of(loops[loop], [](const AffineLoop& affine) { return affine.step == 0; });
}

void AccessPattern::simplify() {
  for (Loop& loop : loops) {
    Loop joined;
    for (const AffineLoop& affine : loop) {
      if (affine.count == 1) continue;
      if (!joined.empty() && joined.back().step == affine.step * affine.count) {
        joined.back() = {joined.back().count * affine.count, affine.step};
      } else {
        joined.push_back(affine);
      }
    }
    loop = std::move(joined);
  }
}

std::vector<std::int64_t> AccessPattern::to_integers() const {
  std::vector<std::int64_t> integers{offset};
  for (const Loop& loop : loops) integers.push_back(static_cast<std::int64_t>(loop.size()));
  for (const Loop& loop : loops)
    for (const AffineLoop& affine : loop) integers.insert(integers.end(), {affine.count, affine.step});
  return integers;
}

AccessPattern AccessPattern::from_integers(const std::vector<std::int64_t>& integers, std::int64_t elements) {
  constexpr std::size_t kHead = 1 + kLoops;
  constexpr std::int64_t kMaxIterations = std::int64_t{1} << 31;
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kInvalidFile, "an attribute of an access pattern is invalid");
  };
  require(integers.size() >= kHead);
  AccessPattern pattern;
  pattern.offset = integers[0];
  require(pattern.offset >= 0 && pattern.offset < elements);
  std::int64_t last = pattern.offset;
  std::size_t next = kHead;
  for (std::size_t i = 0; i < kLoops; ++i) {
    const std::int64_t count = integers[1 + i];
    require(count >= 0 && static_cast<std::size_t>(count) <= (integers.size() - next) / 2);
    std::int64_t iterations = 1;
    for (std::int64_t n = 0; n < count; ++n, next += 2) {
      const AffineLoop affine{integers[next], integers[next + 1]};
      require(affine.count >= 2 && affine.count <= kMaxIterations / iterations && affine.step >= 0);
      iterations *= affine.count;
      require(affine.step <= (elements - 1 - last) / (affine.count - 1));
      last += affine.step * (affine.count - 1);
      pattern.loops[i].push_back(affine);
    }
  }
  require(next == integers.size());
  return pattern;
}

std::optional<AccessPattern> compose(const AccessPattern& pattern, const Shape& shape, const Origin& origin) {
  Dimensions dimensions(shape, pattern.offset);
  AccessPattern through{.offset = origin.offset};
  for (int i = 0; i < shape.rank(); ++i) through.offset += dimensions.start()[i] * origin.steps[i];
  for (std::size_t loop = 0; loop < AccessPattern::kLoops; ++loop) {
    for (const AffineLoop& affine : pattern.loops[loop]) {
      if (affine.step == 0) {
        through.loops[loop].push_back(affine);
        continue;
      }
      const auto parts = dimensions.take(affine);
      if (!parts) return std::nullopt;
      for (const auto& [dimension, count, stride] : *parts)
        through.loops[loop].push_back({count, stride * origin.steps[dimension]});
    }
  }
  through.simplify();
  return through;
}

}  // namespace saccade
