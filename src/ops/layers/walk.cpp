#include "ops/layers/walk.hpp"

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
  std::optional<std::vector<Part>> take(Steady steady) {
    std::vector<Part> parts;
    for (int i = shape_.rank() - 1; i >= 0 && steady.count > 1; --i) {
      if (shape_[i] == 1 || steady.step >= steps_[i] * shape_[i]) continue;
      if (steady.step % steps_[i] != 0) return std::nullopt;
      const std::int64_t stride = steady.step / steps_[i];
      std::int64_t count = steady.count;
      if (used_[i] + stride * (count - 1) >= shape_[i]) {
        count = shape_[i] / stride;
        if (shape_[i] % stride != 0 || steady.count % count != 0 || used_[i] + stride * (count - 1) >= shape_[i])
          return std::nullopt;
      }
      used_[i] += stride * (count - 1);
      parts.insert(parts.begin(), {i, count, stride});
      steady = {steady.count / count, steady.step * count};
    }
    if (steady.count > 1) return std::nullopt;
    return parts;
  }

 private:
  Shape shape_;
  Shape steps_;
  Shape used_;
};

}  // namespace

std::int64_t Walk::turns(std::size_t loop) const {
  std::int64_t turns = 1;
  for (const Steady& steady : loops[loop]) turns *= steady.count;
  return turns;
}

std::int64_t Walk::along(std::size_t loop, std::int64_t turn) const {
  std::int64_t along = 0;
  for (auto steady = loops[loop].rbegin(); steady != loops[loop].rend(); ++steady) {
    along += turn % steady->count * steady->step;
    turn /= steady->count;
  }
  return along;
}

bool Walk::stands(std::size_t loop) const {
  return std::ranges::all_of(loops[loop], [](const Steady& steady) { return steady.step == 0; });
}

void Walk::simplify() {
  for (Loop& loop : loops) {
    Loop joined;
    for (const Steady& steady : loop) {
      if (steady.count == 1) continue;
      if (!joined.empty() && joined.back().step == steady.step * steady.count) {
        joined.back() = {joined.back().count * steady.count, steady.step};
      } else {
        joined.push_back(steady);
      }
    }
    loop = std::move(joined);
  }
}

std::vector<std::int64_t> Walk::to_integers() const {
  std::vector<std::int64_t> integers{offset};
  for (const Loop& loop : loops) integers.push_back(static_cast<std::int64_t>(loop.size()));
  for (const Loop& loop : loops)
    for (const Steady& steady : loop) integers.insert(integers.end(), {steady.count, steady.step});
  return integers;
}

Walk Walk::from_integers(const std::vector<std::int64_t>& integers, std::int64_t elements) {
  constexpr std::size_t kHead = 1 + kLoops;
  constexpr std::int64_t kMostTurns = std::int64_t{1} << 31;
  const auto require = [](bool right) {
    if (!right) fail(ErrorCode::kInvalidFile, "an attribute of an access pattern is invalid");
  };
  require(integers.size() >= kHead);
  Walk walk;
  walk.offset = integers[0];
  require(walk.offset >= 0 && walk.offset < elements);
  std::int64_t last = walk.offset;
  std::size_t next = kHead;
  for (std::size_t i = 0; i < kLoops; ++i) {
    const std::int64_t count = integers[1 + i];
    require(count >= 0 && static_cast<std::size_t>(count) <= (integers.size() - next) / 2);
    std::int64_t turns = 1;
    for (std::int64_t n = 0; n < count; ++n, next += 2) {
      const Steady steady{integers[next], integers[next + 1]};
      require(steady.count >= 2 && steady.count <= kMostTurns / turns && steady.step >= 0);
      turns *= steady.count;
      require(steady.step <= (elements - 1 - last) / (steady.count - 1));
      last += steady.step * (steady.count - 1);
      walk.loops[i].push_back(steady);
    }
  }
  require(next == integers.size());
  return walk;
}

std::optional<Walk> walk_through(const Walk& walk, const Shape& shape, const Origin& origin) {
  Dimensions dimensions(shape, walk.offset);
  Walk through{.offset = origin.offset};
  for (int i = 0; i < shape.rank(); ++i) through.offset += dimensions.start()[i] * origin.steps[i];
  for (std::size_t loop = 0; loop < Walk::kLoops; ++loop) {
    for (const Steady& steady : walk.loops[loop]) {
      if (steady.step == 0) {
        through.loops[loop].push_back(steady);
        continue;
      }
      const auto parts = dimensions.take(steady);
      if (!parts) return std::nullopt;
      for (const auto& [dimension, count, stride] : *parts)
        through.loops[loop].push_back({count, stride * origin.steps[dimension]});
    }
  }
  through.simplify();
  return through;
}

}  // namespace saccade
