#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"
#include "ops/core/values.hpp"

// RotaryEmbedding: rotates pairs of a head's elements by an angle that depends on the position. Inputs: X (batch,
// heads, length, size) or (batch, length, heads * size), cosines and sines, one row per position (or one per image and
// position if no positions are given), and the positions (batch, length).
namespace saccade {
namespace {

/// The layout of X: heads of `size` elements.
struct RotaryHeads {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t size = 0;
  std::int64_t head_step = 0;  ///< stride of heads in elements
  std::int64_t row_step = 0;   ///< stride of positions in elements
};

RotaryHeads heads_of(const Attributes& attributes, const Shape& shape) {
  if (shape.rank() == 4) return {shape[0], shape[1], shape[2], shape[3], shape[2] * shape[3], shape[3]};
  const std::int64_t heads = attributes.integer("num_heads", 0);
  if (shape.rank() != 3 || heads < 1 || shape[2] % heads != 0)
    fail(ErrorCode::kInvalidFile, "an input of shape {} can't be cut into {} heads: see num_heads", shape.to_string(),
         heads);
  return {shape[0], heads, shape[1], shape[2] / heads, shape[2] / heads, shape[2]};
}

/// The number of rotated pairs per head; the elements behind them are copied.
std::int64_t pairs_of(const Attributes& attributes, const RotaryHeads& heads) {
  const std::int64_t given = attributes.integer("rotary_embedding_dim", 0);
  const std::int64_t turned = given == 0 ? heads.size : given;
  if (turned < 0 || turned > heads.size || turned % 2 != 0)
    fail(ErrorCode::kInvalidFile, "rotary_embedding_dim {} is not an even number of a head's {} elements", turned,
         heads.size);
  return turned / 2;
}

void infer_rotary_embedding(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const RotaryHeads heads = heads_of(context.attributes(), context.shape(0));
  const std::int64_t pairs = pairs_of(context.attributes(), heads);
  const bool given = context.has(3);
  if (given && (context.dtype(3) != DType::kInt64 || context.shape(3) != Shape{heads.batch, heads.length}))
    fail(ErrorCode::kInvalidFile, "position_ids are {} {}, not int64 {}x{}", to_string(context.dtype(3)),
         context.shape(3).to_string(), heads.batch, heads.length);
  for (int i = 1; i < 3; ++i) {
    const Shape& cache = context.shape(i);
    const bool fits = given ? cache.rank() == 2 && cache[1] == pairs : cache == Shape{heads.batch, heads.length, pairs};
    if (!fits || cache != context.shape(1) || context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "input {}, {} {}, does not hold the angles of {} pairs for {}", i,
           to_string(context.dtype(i)), cache.to_string(), pairs, context.shape(0).to_string());
  }
  context.output(0, context.dtype(0), context.shape(0));
}

/// Rotates COUNT pairs; the two elements of a pair are APART elements from each other, pairs NEXT elements.
template <typename T>
void turn(const T* from, T* to, const T* cosines, const T* sines, std::int64_t count, std::int64_t apart,
          std::int64_t next) {
  using Real = Accumulator<T>;
  for (std::int64_t i = 0; i < count; ++i, from += next, to += next) {
    const auto first = static_cast<Real>(from[0]);
    const auto second = static_cast<Real>(from[apart]);
    const auto cosine = static_cast<Real>(cosines[i]);
    const auto sine = static_cast<Real>(sines[i]);
    to[0] = static_cast<T>(cosine * first - sine * second);
    to[apart] = static_cast<T>(sine * first + cosine * second);
  }
}

template <typename T>
void rotate(const KernelContext& context) {
  const RotaryHeads heads = heads_of(context.attributes(), context.input(0).shape);
  const std::int64_t pairs = pairs_of(context.attributes(), heads);
  const bool interleaved = context.attributes().integer("interleaved", 0) != 0;
  const Indices positions = context.has(3) ? Indices(context.input(3)) : Indices();
  const T* from = context.in<T>(0).data();
  T* to = context.out<T>().data();
  for (std::int64_t row = 0; row < heads.batch * heads.length; ++row) {
    const std::int64_t position =
        context.has(3) ? checked_index(positions[static_cast<std::size_t>(row)], context.input(1).shape[0]) : row;
    const T* cosines = context.in<T>(1).data() + position * pairs;
    const T* sines = context.in<T>(2).data() + position * pairs;
    const std::int64_t image = row / heads.length * heads.length * heads.heads * heads.size;
    for (std::int64_t head = 0; head < heads.heads; ++head) {
      const std::int64_t at = image + head * heads.head_step + row % heads.length * heads.row_step;
      turn(from + at, to + at, cosines, sines, pairs, interleaved ? 1 : pairs, interleaved ? 2 : 1);
      std::copy_n(from + at + 2 * pairs, heads.size - 2 * pairs, to + at + 2 * pairs);
    }
  }
}

void reference_rotary_embedding(const KernelContext& context) {
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { rotate<T>(context); });
}

constexpr Op kRotaryEmbeddingOps[] = {
    {"", "RotaryEmbedding", infer_rotary_embedding, reference_rotary_embedding, {.arity = {3, 4}}}};

}  // namespace

std::span<const Op> rotary_embedding_ops() { return kRotaryEmbeddingOps; }

}  // namespace saccade
