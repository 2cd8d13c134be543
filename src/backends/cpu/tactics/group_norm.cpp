#include <cmath>
#include <numeric>

#include "cpu/kernels/norm_kernels.hpp"
#include "cpu/loops/element_program.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// InstanceNormalization and GroupNormalization in three steps, each split over the threads: sums per channel and piece
// of an image; the normalizers of each channel (in float64); normalisation. The first and the last step assign the same
// elements to a thread, so that what fits its cache is read from memory once.
namespace saccade::cpu {
namespace {

/// Elements of a tile of the last step, which stays in L1d for the post-ops.
constexpr std::int64_t kTile = 4096;

/// The problem and its intermediate results.
struct GroupNorm {
  std::int64_t images = 1;
  std::int64_t channels = 1;
  std::int64_t plane = 1;  ///< elements of one channel of one image
  std::int64_t groups = 1;
  bool interleaved = false;  ///< the channels of a pixel are contiguous, else the pixels of a channel
  std::int64_t pieces = 1;   ///< into which a channel's elements are split for the sums
  double epsilon = 0;
  bool per_group = false;  ///< scale and bias: opset 18's form
  std::vector<UnaryOperation> post_ops;

  std::int64_t piece(std::int64_t p) const { return plane * p / pieces; }
  std::int64_t members() const { return channels / groups; }
  std::size_t sums() const { return static_cast<std::size_t>(images * pieces * channels); }
  std::size_t normalizers() const { return static_cast<std::size_t>(images * channels); }
};

struct Room {
  ShiftedSums sums;  ///< images x pieces x channels
  float* center;     ///< images x channels, as those below
  float* factor;
  float* offset;
};

Room room_at(const GroupNorm& norm, std::byte* scratch) {
  auto* at = reinterpret_cast<float*>(scratch);
  const auto next = [&](std::size_t count) { return std::exchange(at, at + count); };
  Room room{};
  room.sums = {next(norm.sums()), next(norm.sums()), next(norm.sums())};
  room.center = next(norm.normalizers());
  room.factor = next(norm.normalizers());
  room.offset = next(norm.normalizers());
  return room;
}

/// The minimum number of units of SIZE elements per thread.
std::int64_t grain_of(std::int64_t size) { return kParallelGrain / (size + 1) + 1; }

void sum(const GroupNorm& norm, const float* src, const Room& room) {
  const NormKernels& kernels = norm_kernels();
  const auto from = [&](std::int64_t i) {
    return ShiftedSums{room.sums.shift + i, room.sums.sum + i, room.sums.squares + i};
  };
  const std::int64_t channels = norm.channels;
  const std::int64_t length = norm.plane / norm.pieces;
  if (norm.interleaved) {
    parallel_for(norm.images * norm.pieces, grain_of(length * channels), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = norm.piece(i % norm.pieces);
        kernels.sum_pixels(src + (i / norm.pieces * norm.plane + first) * channels,
                           static_cast<std::size_t>(norm.piece(i % norm.pieces + 1) - first),
                           static_cast<std::size_t>(channels), from(i * channels));
      }
    });
    return;
  }
  parallel_for(norm.images * channels * norm.pieces, grain_of(length), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t piece = i % norm.pieces;
      const std::int64_t image = i / norm.pieces / channels;
      const std::int64_t channel = i / norm.pieces % channels;
      const std::int64_t first = norm.piece(piece);
      kernels.sum_run(src + i / norm.pieces * norm.plane + first,
                      static_cast<std::size_t>(norm.piece(piece + 1) - first),
                      from((image * norm.pieces + piece) * channels + channel));
    }
  });
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

/// Of one group of one image.
Moments moments_of(const GroupNorm& norm, const Room& room, std::int64_t image, std::int64_t group) {
  const auto count = static_cast<double>(norm.plane * norm.members());
  const auto visit = [&](const auto& add) {
    for (std::int64_t p = 0; p < norm.pieces; ++p) {
      const auto size = static_cast<double>(norm.piece(p + 1) - norm.piece(p));
      const std::int64_t first = (image * norm.pieces + p) * norm.channels + group * norm.members();
      for (std::int64_t i = first; i < first + norm.members(); ++i)
        add(size, static_cast<double>(room.sums.shift[i]), static_cast<double>(room.sums.sum[i]), i);
    }
  };
  double total = 0;
  visit([&](double size, double shift, double sum, std::int64_t) { total += size * shift + sum; });
  const double mean = total / count;
  // (x - mean)^2 = ((x - shift) + (shift - mean))^2
  double squares = 0;
  visit([&](double size, double shift, double sum, std::int64_t i) {
    const double distance = shift - mean;
    squares += static_cast<double>(room.sums.squares[i]) + distance * (2 * sum + size * distance);
  });
  return {mean, std::max(squares / count, 0.0)};
}

/// The normalizers of every channel. A mean may be large relative to the deviation; its float32 rounding error is moved
/// to the offset.
void find_normalizers(const GroupNorm& norm, const float* scale, const float* bias, const Room& room) {
  const std::int64_t members = norm.members();
  parallel_for(norm.images * norm.groups, grain_of(16 * norm.pieces * members),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t group = i % norm.groups;
                   const Moments moments = moments_of(norm, room, i / norm.groups, group);
                   const auto center = static_cast<float>(moments.mean);
                   const double rest = moments.mean - static_cast<double>(center);
                   const double inverse = 1 / std::sqrt(moments.variance + norm.epsilon);
                   for (std::int64_t member = 0; member < members; ++member) {
                     const std::int64_t parameter = norm.per_group ? group : group * members + member;
                     const double factor = static_cast<double>(scale[parameter]) * inverse;
                     const std::int64_t at = i * members + member;
                     room.center[at] = center;
                     room.factor[at] = static_cast<float>(factor);
                     // With an infinite factor, the remainder, which may be 0, is ignored.
                     const double lost = std::isinf(factor) ? 0 : rest * factor;
                     room.offset[at] = static_cast<float>(static_cast<double>(bias[parameter]) - lost);
                   }
                 }
               });
}

void finish_tile(const GroupNorm& norm, float* dst, std::size_t count) {
  for (const UnaryOperation& post : norm.post_ops) post.kernels.both(dst, nullptr, dst, count, post.alpha, post.beta);
}

void normalize(const GroupNorm& norm, const float* src, float* dst, const Room& room) {
  const NormKernels& kernels = norm_kernels();
  // A unit shares its normalizers: the pixels of an image, or a channel.
  const std::int64_t width = norm.interleaved ? norm.channels : 1;
  const std::int64_t step = std::max<std::int64_t>(kTile / width, 1);
  const std::int64_t tiles = (norm.plane + step - 1) / step;
  const std::int64_t lines = norm.images * norm.channels / width;
  parallel_for(lines * tiles, grain_of(norm.plane / tiles * width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t line = i / tiles;
      const std::int64_t first = i % tiles * step;
      const std::int64_t at = (line * norm.plane + first) * width;
      const auto length = static_cast<std::size_t>(std::min(step, norm.plane - first));
      const std::int64_t c = line * width;
      const Normalizer normalizer{room.center + c, room.factor + c, room.offset + c};
      if (norm.interleaved)
        kernels.normalize_pixels(src + at, dst + at, length, static_cast<std::size_t>(width), normalizer);
      else
        kernels.normalize_run(src + at, dst + at, length, normalizer);
      finish_tile(norm, dst + at, length * static_cast<std::size_t>(width));
    }
  });
}

class BoundGroupNorm : public BoundLaunch {
 public:
  BoundGroupNorm(const GroupNorm& norm, const Bindings& bindings)
      : norm_(norm),
        src_(static_cast<const float*>(bindings.inputs[0].data)),
        scale_(static_cast<const float*>(bindings.inputs[1].data)),
        bias_(static_cast<const float*>(bindings.inputs[2].data)),
        dst_(static_cast<float*>(bindings.outputs[0].data)),
        room_(room_at(norm, bindings.scratch)) {}

  void run() override {
    if (norm_.images * norm_.channels * norm_.plane == 0) return;
    sum(norm_, src_, room_);
    find_normalizers(norm_, scale_, bias_, room_);
    normalize(norm_, src_, dst_, room_);
  }

 private:
  const GroupNorm& norm_;
  const float* src_;
  const float* scale_;
  const float* bias_;
  float* dst_;
  Room room_;
};

class GroupNormLaunch : public Launch {
 public:
  explicit GroupNormLaunch(GroupNorm norm) : norm_(std::move(norm)) {}
  std::size_t scratch_bytes() const override { return 3 * (norm_.sums() + norm_.normalizers()) * sizeof(float); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundGroupNorm>(norm_, bindings);
  }

 private:
  GroupNorm norm_;
};

/// The number of pieces of a channel for equal work on THREADS threads.
std::int64_t pieces_for(const GroupNorm& norm, std::int64_t threads) {
  const std::int64_t units = norm.interleaved ? norm.images : norm.images * norm.channels;
  // Enough units for a balanced distribution.
  constexpr std::int64_t kMany = 8;
  if (units == 0 || units % threads == 0 || units >= kMany * threads) return 1;
  const std::int64_t share = norm.images * norm.channels * norm.plane / units / kParallelGrain;
  const std::int64_t most = std::max<std::int64_t>(std::min(share, norm.plane), 1);
  return std::min(threads / std::gcd(units, threads), most);
}

GroupNorm group_norm_of(const NodeContext& context) {
  const Shape& shape = context.input(0).type.shape;
  GroupNorm norm;
  norm.images = shape[0];
  norm.channels = shape[1];
  for (int i = 2; i < shape.rank(); ++i) norm.plane *= shape[i];
  norm.groups =
      context.node.is("InstanceNormalization") ? norm.channels : context.node.attributes.integer("num_groups", 0);
  const bool channels_last = shape.rank() >= 3 && context.input(0).layout == Layout::kChannelsLast;
  norm.interleaved = norm.plane == 1 || (channels_last && norm.channels > 1);
  norm.epsilon = static_cast<double>(context.node.attributes.real("epsilon", 1e-5F));
  norm.per_group = context.input(1).type.shape[0] != norm.channels;
  norm.pieces = pieces_for(norm, std::max(context.threads, 1));
  return norm;
}

class GroupNormalization : public Tactic {
 public:
  std::string_view name() const override { return "vector.group_norm"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("InstanceNormalization") && !node.is("GroupNormalization"))
      return Support::other_operator("not an InstanceNormalization or GroupNormalization");
    for (int i = 0; i < 3; ++i)
      if (context.input(i).type.dtype != DType::kFloat32) return Support::no("only float32 has vector kernels");
    if (context.input(0).layout != context.output().layout && context.output().type.shape.rank() >= 3)
      return Support::no("its input and output have different layouts");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    GroupNorm norm = group_norm_of(context);
    for (const PostOp& post : context.node.post_ops) {
      const auto operation = unary_operation(post);
      // One with an operand: all post-ops run after the launch.
      if (!operation) return with_post_ops(context, std::make_unique<GroupNormLaunch>(group_norm_of(context)));
      norm.post_ops.push_back(*operation);
    }
    return std::make_unique<GroupNormLaunch>(std::move(norm));
  }
};

}  // namespace

const Tactic& vector_group_norm() {
  static const GroupNormalization tactic;
  return tactic;
}

}  // namespace saccade::cpu
