#include "ops/sampling/regions.hpp"

#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"
#include "ops/core/values.hpp"

// RoiAlign and MaxRoiPool: regions of feature maps (N, C, H, W) resampled to one size.
namespace saccade {
namespace {

/// Checks the maps and sets the output, REGIONS x C x HEIGHT x WIDTH.
void infer_regions(InferContext& context, std::int64_t columns, std::int64_t height, std::int64_t width) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const Shape& maps = context.shape(0);
  const Shape& regions = context.shape(1);
  if (maps.rank() != 4 || regions.rank() != 2 || regions[1] != columns || context.dtype(1) != context.dtype(0))
    fail(ErrorCode::kInvalidFile, "regions {} {} don't fit maps {} {}", to_string(context.dtype(1)),
         regions.to_string(), to_string(context.dtype(0)), maps.to_string());
  if (height < 1 || width < 1) fail(ErrorCode::kInvalidFile, "a region can't become {}x{}", height, width);
  context.output(0, context.dtype(0), {regions[0], maps[1], height, width});
}

void infer_roi_align(InferContext& context) {
  const Attributes& attributes = context.attributes();
  check_indices(context, 2);
  if (context.shape(2) != Shape{context.shape(1).rank() > 0 ? context.shape(1)[0] : 0})
    fail(ErrorCode::kInvalidFile, "batch_indices of shape {} are not one for each region of {}",
         context.shape(2).to_string(), context.shape(1).to_string());
  const std::string mode = attributes.text("mode", "avg");
  if (mode != "avg" && mode != "max") fail(ErrorCode::kInvalidFile, "RoiAlign's mode is '{}', not avg or max", mode);
  const std::string corners = attributes.text("coordinate_transformation_mode", "half_pixel");
  if (corners != "half_pixel" && corners != "output_half_pixel")
    fail(ErrorCode::kInvalidFile, "coordinate_transformation_mode is '{}', which RoiAlign does not know", corners);
  const std::int64_t samples = attributes.integer("sampling_ratio", 0);
  if (samples < 0 || samples > kMaxRegionSamples)
    fail(ErrorCode::kInvalidFile, "sampling_ratio is {}; it must lie in 0..{}", samples, kMaxRegionSamples);
  infer_regions(context, 4, attributes.integer("output_height", 1), attributes.integer("output_width", 1));
}

/// The average of a bin's samples, or the maximum of their weighted corners.
template <typename T, typename Real>
Real align_bin(const T* map, const RegionSide<Real>& rows, const RegionSide<Real>& columns, std::int64_t y,
               std::int64_t x, bool largest) {
  Real sum = 0;
  Real best = -std::numeric_limits<Real>::infinity();
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return static_cast<Real>(map[row * columns.length + column]);
  };
  for (std::int64_t i = 0; i < rows.samples; ++i) {
    const Between v(rows.sample(y, i), rows.length);
    if (v.outside) {
      // A row of zeros; a region far outside has millions of them.
      best = MaxElements{}(best, Real{0});
      continue;
    }
    for (std::int64_t k = 0; k < columns.samples; ++k) {
      const Between h(columns.sample(x, k), columns.length);
      std::array<Real, 4> corners{};
      if (!h.outside)
        corners = {(1 - v.weight) * (1 - h.weight) * at(v.low, h.low), (1 - v.weight) * h.weight * at(v.low, h.high),
                   v.weight * (1 - h.weight) * at(v.high, h.low), v.weight * h.weight * at(v.high, h.high)};
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      for (const Real corner : corners) best = MaxElements{}(best, corner);
    }
  }
  if (largest) return rows.samples * columns.samples == 0 ? Real{0} : best;
  return sum / static_cast<Real>(std::max<std::int64_t>(rows.samples * columns.samples, 1));
}

template <typename T>
void roi_align(const KernelContext& context) {
  using Real = Accumulator<T>;
  const RoiAlignment how(context.attributes());
  const Shape& maps = context.input(0).shape;
  const Shape& shape = context.output().shape;
  const auto corners = context.in<T>(1);
  const Indices images(context.input(2));
  T* to = context.out<T>().data();
  for (std::int64_t region = 0; region < shape[0]; ++region) {
    const auto corner = [&](std::int64_t i) {
      return static_cast<Real>(corners[static_cast<std::size_t>(4 * region + i)]);
    };
    const RegionSide<Real> columns(how, corner(0), corner(2), shape[3], maps[3]);
    const RegionSide<Real> rows(how, corner(1), corner(3), shape[2], maps[2]);
    const std::int64_t image = checked_index(images[static_cast<std::size_t>(region)], maps[0]);
    for (std::int64_t channel = 0; channel < shape[1]; ++channel) {
      const T* map = context.in<T>(0).data() + (image * maps[1] + channel) * maps[2] * maps[3];
      for (std::int64_t y = 0; y < shape[2]; ++y)
        for (std::int64_t x = 0; x < shape[3]; ++x)
          *to++ = static_cast<T>(align_bin<T, Real>(map, rows, columns, y, x, how.largest));
    }
  }
}

void reference_roi_align(const KernelContext& context) {
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { roi_align<T>(context); });
}

void infer_max_roi_pool(InferContext& context) {
  const auto shape = context.attributes().integers("pooled_shape");
  if (shape.size() != 2) fail(ErrorCode::kInvalidFile, "MaxRoiPool needs the attribute 'pooled_shape' of two numbers");
  infer_regions(context, 5, shape[0], shape[1]);
}

/// The elements of a bin, clipped to the map; a region consists of whole elements, its last one included.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

Range bin_range(double from, double to, std::int64_t bin, std::int64_t bins, std::int64_t length) {
  const double start = std::round(from);
  const double size = std::max(std::round(to) - start + 1, 1.0) / static_cast<double>(bins);
  const auto clip = [&](double at) { return std::clamp<std::int64_t>(saturate<std::int64_t>(at), 0, length); };
  return {clip(std::floor(static_cast<double>(bin) * size) + start),
          clip(std::ceil(static_cast<double>(bin + 1) * size) + start)};
}

template <typename T>
void max_roi_pool(const KernelContext& context) {
  const double scale = context.attributes().real("spatial_scale", 1);
  const Shape& maps = context.input(0).shape;
  const Shape& shape = context.output().shape;
  const auto regions = context.in<T>(1);
  T* to = context.out<T>().data();
  for (std::int64_t region = 0; region < shape[0]; ++region) {
    const auto row = regions.subspan(5 * static_cast<std::size_t>(region), 5);
    const auto corner = [&](std::size_t i) { return static_cast<double>(row[i]) * scale; };
    const std::int64_t image = checked_index(saturate<std::int64_t>(static_cast<double>(row[0])), maps[0]);
    for (std::int64_t channel = 0; channel < shape[1]; ++channel) {
      const T* map = context.in<T>(0).data() + (image * maps[1] + channel) * maps[2] * maps[3];
      for (std::int64_t bin = 0; bin < shape[2] * shape[3]; ++bin) {
        const Range rows = bin_range(corner(2), corner(4), bin / shape[3], shape[2], maps[2]);
        const Range columns = bin_range(corner(1), corner(3), bin % shape[3], shape[3], maps[3]);
        const T* best = nullptr;
        for (std::int64_t y = rows.begin; y < rows.end; ++y)
          for (std::int64_t x = columns.begin; x < columns.end; ++x)
            if (const T* at = map + y * maps[3] + x; best == nullptr || is_above(*at, *best)) best = at;
        *to++ = best == nullptr ? T{} : *best;
      }
    }
  }
}

void reference_max_roi_pool(const KernelContext& context) {
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { max_roi_pool<T>(context); });
}

constexpr Op kRegionsOps[] = {
    {"", "RoiAlign", infer_roi_align, reference_roi_align, {.arity = {3, 3}}},
    {"", "MaxRoiPool", infer_max_roi_pool, reference_max_roi_pool, {.arity = {2, 2}}},
};

}  // namespace

RoiAlignment::RoiAlignment(const Attributes& attributes)
    : half_pixel(attributes.text("coordinate_transformation_mode", "half_pixel") == "half_pixel"),
      largest(attributes.text("mode", "avg") == "max"),
      samples(attributes.integer("sampling_ratio", 0)),
      scale(attributes.real("spatial_scale", 1)) {}

std::span<const Op> regions_ops() { return kRegionsOps; }

}  // namespace saccade
