#pragma once

#include <array>
#include <optional>
#include <vector>

#include "saccade/tensor.hpp"

namespace saccade {

/// COUNT turns (2 or more), STEP elements from each to the next.
struct Steady {
  std::int64_t count = 1;
  std::int64_t step = 0;
  friend bool operator==(const Steady&, const Steady&) = default;
};

/// Where each element of a tensor came from: (i, j, ...) is number offset + i * steps[0] + j * steps[1] + ... of
/// another tensor.
struct Origin {
  std::int64_t offset = 0;
  Shape steps;
};

/// How three nested loops walk through a tensor. Elements are counted row-major, by the tensor's shape and whatever its
/// layout: so a view is walked as its source is, and a transposed, sliced or broadcast tensor can be had by walking
/// otherwise through what it was made of.
struct Walk {
  static constexpr std::size_t kLoops = 3;
  /// A loop of one turn is empty; one that is not steady throughout is several, the outermost first.
  using Loop = std::vector<Steady>;

  std::int64_t offset = 0;
  std::array<Loop, kLoops> loops;

  /// How often loop number LOOP turns.
  std::int64_t turns(std::size_t loop) const;
  /// How many elements the loop is along at TURN.
  std::int64_t along(std::size_t loop, std::int64_t turn) const;
  /// Whether the loop stays where it is.
  bool stands(std::size_t loop) const;
  /// Drops loops of one turn and joins those that go on as one.
  void simplify();

  /// As an attribute holds it: the offset, how many Steadies each loop has, and all of them.
  std::vector<std::int64_t> to_integers() const;
  /// Throws Error (kInvalidFile) unless they are a walk inside of a tensor of so many ELEMENTS, forwards.
  static Walk from_integers(const std::vector<std::int64_t>& integers, std::int64_t elements);

  friend bool operator==(const Walk&, const Walk&) = default;
};

/// WALK, which goes through a tensor of SHAPE, as a walk through the tensor that its elements came from. Nothing where
/// it is none that loops can say: where one goes on in the next dimension amid its steps.
std::optional<Walk> walk_through(const Walk& walk, const Shape& shape, const Origin& origin);

}  // namespace saccade
