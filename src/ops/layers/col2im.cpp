#include <algorithm>

#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// Col2Im: sums columns of sliding blocks into an image, the transpose of im2col. Inputs: columns [N, C * block,
// blocks], the image's spatial shape, the block's shape. Output [N, C, image].
namespace saccade {
namespace {

/// Far above any real block, far below what could overflow.
constexpr std::int64_t kLimit = std::int64_t{1} << 31;

struct Axis {
  std::int64_t image = 0;
  std::int64_t block = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;     ///< before the image
  std::int64_t blocks = 0;  ///< positions of the block
};

std::int64_t entry(const std::vector<std::int64_t>& values, std::size_t i, std::int64_t lowest, std::string_view what) {
  if (i >= values.size() || values[i] < lowest || values[i] >= kLimit)
    fail(ErrorCode::kInvalidFile, "'{}' [{}] needs an entry of at least {} for each spatial axis", what,
         fmt::join(values, ", "), lowest);
  return values[i];
}

std::vector<Axis> axes_of(const Attributes& attributes, const std::vector<std::int64_t>& image,
                          const std::vector<std::int64_t>& block) {
  const std::size_t rank = image.size();
  if (rank < 1 || rank > Shape::kMaxRank - 2 || block.size() != rank)
    fail(ErrorCode::kInvalidFile, "a block of {} axes can't slide over an image of {}", block.size(), rank);
  const auto strides = attributes.integers("strides", std::vector<std::int64_t>(rank, 1));
  const auto dilations = attributes.integers("dilations", std::vector<std::int64_t>(rank, 1));
  const auto pads = attributes.integers("pads", std::vector<std::int64_t>(2 * rank, 0));
  std::vector<Axis> axes(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    Axis& axis = axes[i];
    axis = {.image = entry(image, i, 1, "image_shape"),
            .block = entry(block, i, 1, "block_shape"),
            .stride = entry(strides, i, 1, "strides"),
            .dilation = entry(dilations, i, 1, "dilations"),
            .pad = entry(pads, i, 0, "pads")};
    const std::int64_t padded = axis.image + axis.pad + entry(pads, rank + i, 0, "pads");
    const std::int64_t room = padded - checked_multiply(axis.dilation, axis.block - 1) - 1;
    if (room < 0) fail(ErrorCode::kInvalidFile, "a block of {} does not fit into {} elements", axis.block, padded);
    axis.blocks = room / axis.stride + 1;
  }
  return axes;
}

std::int64_t product_of(const std::vector<Axis>& axes, std::int64_t Axis::*length) {
  std::int64_t product = 1;
  for (const Axis& axis : axes) product = checked_multiply(product, axis.*length);
  return product;
}

void infer_col2im(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "an input of type {} is not supported", to_string(context.dtype(0)));
  const auto image = context.integers(1, "the shape of its image");
  const auto axes = axes_of(context.attributes(), image, context.integers(2, "the shape of its block"));
  const Shape& columns = context.shape(0);
  const std::int64_t taps = product_of(axes, &Axis::block);
  if (columns.rank() != 3 || columns[1] % taps != 0 || columns[2] != product_of(axes, &Axis::blocks))
    fail(ErrorCode::kInvalidFile, "columns of shape {} don't hold {} positions of blocks of {} elements",
         columns.to_string(), product_of(axes, &Axis::blocks), taps);
  Shape output{columns[0], columns[1] / taps};
  for (const std::int64_t length : image) output.push_back(length);
  context.output(0, context.dtype(0), output);
}

/// The image element of a tap of a block, or -1 in the padding.
std::int64_t place(const std::vector<Axis>& axes, std::int64_t tap, std::int64_t block) {
  std::int64_t index = 0;
  std::int64_t step = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const std::int64_t at = block % axis->blocks * axis->stride - axis->pad + tap % axis->block * axis->dilation;
    if (at < 0 || at >= axis->image) return -1;
    index += at * step;
    step *= axis->image;
    block /= axis->blocks;
    tap /= axis->block;
  }
  return index;
}

template <typename T>
void add_columns(const KernelContext& context, const std::vector<Axis>& axes) {
  const auto columns = context.in<T>(0);
  const std::int64_t taps = product_of(axes, &Axis::block);
  const std::int64_t blocks = product_of(axes, &Axis::blocks);
  const auto plane = static_cast<std::size_t>(product_of(axes, &Axis::image));
  std::vector<Accumulator<T>> sums(plane);
  auto column = columns.begin();
  for (auto to = context.out<T>(); !to.empty(); to = to.subspan(plane)) {
    std::ranges::fill(sums, Accumulator<T>{});
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t block = 0; block < blocks; ++block, ++column) {
        const std::int64_t at = place(axes, tap, block);
        if (at < 0) continue;
        auto& sum = sums[static_cast<std::size_t>(at)];
        sum = AddElements{}(sum, static_cast<Accumulator<T>>(*column));
      }
    }
    std::ranges::transform(sums, to.begin(), [](Accumulator<T> sum) { return static_cast<T>(sum); });
  }
}

void reference_col2im(const KernelContext& context) {
  const auto axes = axes_of(context.attributes(), integers_of(context.input(1)), integers_of(context.input(2)));
  with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { add_columns<T>(context, axes); });
}

constexpr Op kCol2imOps[] = {{"", "Col2Im", infer_col2im, reference_col2im, {.arity = {3, 3}}}};

}  // namespace

std::span<const Op> col2im_ops() { return kCol2imOps; }

}  // namespace saccade
