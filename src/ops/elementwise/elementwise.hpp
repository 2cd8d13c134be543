#pragma once

#include "ops/core/broadcast.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided.hpp"

// Shared code of element-wise operators. A function of elements is a small class whose operator() takes the type of T's
// arithmetic; one with attributes is constructed from them. Every kernel may run in place on input 0 if that has the
// output's shape.
namespace saccade {

template <typename Function>
Function make_function(const Attributes& attributes) {
  if constexpr (std::is_constructible_v<Function, const Attributes&>)
    return Function(attributes);
  else
    return Function{};
}

/// to[i] = function(from[i])
template <typename T, typename Result, typename Function>
void map_elements(const TensorView& from, const TensorView& to, const Function& function) {
  const T* source = static_cast<const T*>(from.data);
  auto* target = static_cast<Result*>(to.data);
  const std::int64_t count = to.elements();
  for (std::int64_t i = 0; i < count; ++i)
    target[i] = static_cast<Result>(function(static_cast<Accumulator<T>>(source[i])));
}

/// to[i] = function(a[i], b[i]) with A and B broadcast to TO's shape.
template <typename A, typename B, typename Result, typename Function>
void map_pairs(const TensorView& a, const TensorView& b, const TensorView& to, const Function& function) {
  const A* left = static_cast<const A*>(a.data);
  const B* right = static_cast<const B*>(b.data);
  auto* target = static_cast<Result*>(to.data);
  const auto apply = [&](const A& x, const B& y) {
    return static_cast<Result>(function(static_cast<const Accumulator<A>&>(x), static_cast<const Accumulator<B>&>(y)));
  };
  const StridedLoop<3> loop(to.shape,
                            {broadcast_strides(a.shape, to.shape), broadcast_strides(b.shape, to.shape), to.strides()});
  loop.run({}, [&](const auto& at, std::int64_t count, const auto& step) {
    const A* x = left + at[0];
    const B* y = right + at[1];
    Result* z = target + at[2];
    // The common strides have loops of their own, which the compiler vectorizes.
    if (step[0] == 1 && step[1] == 1) {
      for (std::int64_t k = 0; k < count; ++k) z[k] = apply(x[k], y[k]);
    } else if (step[0] == 1 && step[1] == 0) {
      const B same = *y;
      for (std::int64_t k = 0; k < count; ++k) z[k] = apply(x[k], same);
    } else if (step[0] == 0 && step[1] == 1) {
      const A same = *x;
      for (std::int64_t k = 0; k < count; ++k) z[k] = apply(same, y[k]);
    } else {
      for (std::int64_t k = 0; k < count; ++k) z[k * step[2]] = apply(x[k * step[0]], y[k * step[1]]);
    }
  });
}

}  // namespace saccade
