#include <cstring>
#include <vector>

#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/pixel_kernels.hpp"
#include "cpu/tactics/pixel_rings.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// Vectorised saccade.Preprocess, bit-exact with the reference.
//
// Every row of the tensor needs two rows of each component of the frame. A frame row is deinterleaved if necessary,
// pairs of adjacent samples are gathered (by a table of positions per frame size; not needed for a scale of exactly 2),
// and interpolated horizontally to 16 bits. Two such rows are interpolated vertically, converted and stored. The last
// two interpolated rows of a component are cached: when upscaling, most rows of the tensor reuse them.
//
// A row of a Bayer mosaic becomes rows of red, green and blue when it is needed, instead of being deinterleaved.
//
// A row in bfloat16 is made in float32 and rounded while it is in the L1 cache.
//
// Other interpolations filter rows by a table (pixel_rings.hpp) and keep as many as a row of the tensor needs.
//
// Bound: bytes of the tensor (4.9 MB for 3x640x640) / write bandwidth; the frame is smaller. 20 % of the bound for
// 1280x720 4:2:0 (0.18 ms on one core), bench/preprocess.cpp.
namespace saccade::cpu {
namespace {

/// Horizontal interpolation of a component: per pixel, the first of two adjacent samples and the weight of the second.
struct TapTable {
  std::vector<std::int32_t> first;  ///< relative to the start of the axis
  std::vector<std::int16_t> weight;
  int begin = 0;
  int extent = 0;
  int step = 0;        ///< of first per pixel if it is constant and 1 or 2; else 0
  bool exact = false;  ///< step is 1 and all weights are 0: nothing is interpolated

  void build(const TapAxis& axis, Span columns) {
    const auto count = static_cast<std::size_t>(columns.end - columns.begin);
    first.resize(count);
    weight.assign(count + kPixelPadding, 0);
    begin = axis.begin;
    extent = axis.end - axis.begin;
    exact = true;
    for (std::size_t x = 0; x < count; ++x) {
      const Tap tap = axis.at(columns.begin + static_cast<int>(x));
      first[x] = tap.first - begin;
      weight[x] = static_cast<std::int16_t>(tap.second_weight);
      exact = exact && tap.second_weight == 0 && first[x] == first[0] + static_cast<std::int32_t>(x);
    }
    step = exact ? 1 : 0;
    if (exact) return;
    // Both samples are read, so the last one becomes the second of its pair.
    for (std::size_t x = 0; x < count; ++x) {
      if (first[x] + 1 < extent || extent == 1) continue;
      first[x] = extent - 2;
      weight[x] = 2048;
    }
    for (int candidate : {1, 2}) {
      bool regular = count > 0;
      for (std::size_t x = 0; x < count && regular; ++x)
        regular = first[x] == first[0] + candidate * static_cast<std::int32_t>(x);
      if (regular) step = candidate;
    }
  }
};

/// Components in the same plane, which share a table and row bytes.
struct Group {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t table = 0;
};

/// The state for a frame's size and format, computed for each frame except for the tables.
struct Job {
  Components components;
  Placement placed;
  Span rows;
  Span columns;
  std::array<Group, 3> groups;
  std::size_t group_count = 0;
  std::array<TapAxis, 2> down;  ///< by table
  PixelRows pixels;
};

/// The row cache of one thread.
struct Worker {
  std::array<std::array<std::vector<std::int16_t>, 2>, 3> blended;  ///< by component: the last two rows
  std::array<std::array<int, 2>, 3> blended_row{};                  ///< by group: their row numbers; -1: none
  std::array<std::vector<std::uint8_t>, 3> samples;
  std::vector<std::uint8_t> pairs;
  std::vector<float> wide;         ///< a row of all channels, for one in half precision
  std::array<PixelRing, 3> rings;  ///< by component, for interpolation by tables

  void reserve(std::size_t columns, std::size_t extent) {
    for (auto& rows : blended)
      for (auto& row : rows) row.resize(columns + kPixelPadding);
    for (auto& row : samples) row.resize(extent + kPixelPadding);
    pairs.resize(2 * columns + kPixelPadding);
  }
};

class BoundPreprocess : public BoundLaunch {
 public:
  BoundPreprocess(const PreprocessSpec& spec, Layout layout, const Bindings& bindings)
      : spec_(spec),
        tabled_(uses_tables(spec.interpolation)),
        arithmetic_(filter_arithmetic(spec.interpolation)),
        is_half_(bindings.outputs[0].dtype == DType::kBFloat16),
        interleaved_(layout == Layout::kChannelsLast && spec.channels() == 3),
        frame_(static_cast<const FrameView*>(bindings.inputs[0].data)),
        tensor_(bindings.outputs[0].data),
        geometry_(bindings.outputs.size() > 1 ? static_cast<float*>(bindings.outputs[1].data) : nullptr) {}

  void run() override {
    prepare();
    // A pixel from a table costs several of bilinear interpolation.
    const int grain = std::max(1, (tabled_ ? 8192 : 65536) / spec_.width);
    parallel_for(spec_.height, grain, [this](std::int64_t begin, std::int64_t end) {
      Worker& worker = workers_[static_cast<std::size_t>(current_rank().rank)];
      for (auto& rows : worker.blended_row) rows = {-1, -1};
      for (PixelRing& ring : worker.rings) ring.forget();
      for (std::int64_t y = begin; y < end; ++y) make_row(worker, static_cast<int>(y));
    });
    if (geometry_ != nullptr) std::ranges::copy(geometry_of(job_.placed, frame_->width, frame_->height), geometry_);
  }

 private:
  /// Allocates if the frame or the team is larger than all before.
  void prepare() {
    job_.placed = place(spec_, frame_->width, frame_->height);
    job_.components = components_of(*frame_);
    job_.rows = covered(job_.placed.y, job_.placed.height, spec_.height);
    job_.columns = covered(job_.placed.x, job_.placed.width, spec_.width);
    group();
    job_.pixels.model = job_.components.model;
    job_.pixels.yuv = yuv_matrix(frame_->matrix, frame_->range);
    job_.pixels.order = spec_.color;
    job_.pixels.scale = spec_.scale;
    job_.pixels.bias = spec_.bias;
    const std::array key = {frame_->width, frame_->height, static_cast<int>(frame_->format)};
    if (key != tables_for_) {
      for (std::size_t i = 0; i < 2; ++i) build_tables(i);
      tables_for_ = key;
    }
    for (std::size_t i = 0; i < 2; ++i) job_.down[i] = axis(i, false);
    if (const auto threads = static_cast<std::size_t>(team_size()); workers_.size() < threads) workers_.resize(threads);
    const auto columns = static_cast<std::size_t>(job_.columns.end - job_.columns.begin);
    const auto extent = static_cast<std::size_t>(std::max(tables_[0].extent, tables_[1].extent));
    for (Worker& worker : workers_) {
      reserve(worker, columns, extent);
      if (is_half_) worker.wide.resize(static_cast<std::size_t>(spec_.channels()) * spec_.width);
    }
  }

  void build_tables(std::size_t i) {
    if (!tabled_) return tables_[i].build(axis(i, true), job_.columns);
    filters_[i].build(spec_, job_.placed, table_part(i));
    across_[i].build(filters_[i].across);
  }

  void reserve(Worker& worker, std::size_t columns, std::size_t extent) const {
    worker.reserve(columns, extent);
    if (!tabled_) return;
    for (std::size_t g = 0; g < job_.group_count; ++g) {
      const Group& group = job_.groups[g];
      for (std::size_t c = group.first; c < group.first + group.count; ++c)
        worker.rings[c].reserve(filters_[group.table]);
    }
  }

  const Component& table_part(std::size_t i) const {
    return job_.components.parts[i == 1 && job_.components.count() == 3 ? 1 : 0];
  }

  /// The axis of table I: the first component's, or the chroma's.
  TapAxis axis(std::size_t i, bool across) const {
    const Component& part = table_part(i);
    const Placement& placed = job_.placed;
    return across ? TapAxis::of(placed.source.x, placed.source.width, part.across, placed.width, placed.x)
                  : TapAxis::of(placed.source.y, placed.source.height, part.down, placed.height, placed.y);
  }

  void group() {
    switch (job_.components.model) {
      case ColorModel::kGray:
        job_.groups[0] = {0, 1, 0};
        job_.group_count = 1;
        break;
      case ColorModel::kRgb:
        job_.groups[0] = {0, 3, 0};
        job_.group_count = 1;
        break;
      case ColorModel::kYuv:
        job_.groups = {Group{0, 1, 0}, Group{1, 1, 1}, Group{2, 1, 1}};
        job_.group_count = 3;
        break;
    }
  }

  void make_row(Worker& worker, int y) {
    const bool inside = y >= job_.rows.begin && y < job_.rows.end && job_.columns.begin < job_.columns.end;
    const Span columns = inside ? job_.columns : Span{0, 0};
    if (inside) {
      PixelRows pixels = job_.pixels;
      for (std::size_t g = 0; g < job_.group_count; ++g)
        tabled_ ? filter_group(worker, g, y, pixels) : blend_group(worker, g, y, pixels);
      finish_pixels(pixels, static_cast<std::size_t>(columns.end - columns.begin), row(worker, y, columns.begin));
    }
    fill(row(worker, y, 0), columns.begin);
    fill(row(worker, y, columns.end), spec_.width - columns.end);
    if (is_half_) narrow(worker, y);
  }

  /// Where the channels of the pixel X of row Y are made.
  std::array<float*, 3> row(Worker& worker, int y, int x) const {
    const std::int64_t width = spec_.width;
    const std::int64_t at = is_half_ ? x : y * width + x;
    float* const first = is_half_ ? worker.wide.data() : static_cast<float*>(tensor_);
    if (interleaved_) return {first + 3 * at, nullptr, nullptr};
    const std::int64_t plane = is_half_ ? width : width * spec_.height;
    if (spec_.channels() == 1) return {first + at, nullptr, nullptr};
    return {first + at, first + plane + at, first + 2 * plane + at};
  }

  /// The row that was made into row Y of the tensor.
  void narrow(const Worker& worker, int y) const {
    const auto width = static_cast<std::size_t>(spec_.width);
    const std::size_t columns = interleaved_ ? 3 * width : width;
    std::uint16_t* const to = static_cast<std::uint16_t*>(tensor_) + static_cast<std::size_t>(y) * columns;
    // No pixel is denormal, if scale and bias are not.
    half_kernels().narrow_results({worker.wide.data(), columns}, {to, width * static_cast<std::size_t>(spec_.height)},
                                  interleaved_ ? 1 : static_cast<std::size_t>(spec_.channels()), columns);
  }

  void fill(const std::array<float*, 3>& to, int count) const {
    if (count <= 0) return;
    const auto value = [this](std::size_t c) {
      return static_cast<float>(spec_.pad[c]) * spec_.scale[c] + spec_.bias[c];
    };
    if (interleaved_) {
      const std::array pixel = {value(0), value(1), value(2)};
      for (int x = 0; x < count; ++x) std::ranges::copy(pixel, to[0] + 3 * std::ptrdiff_t{x});
      return;
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(spec_.channels()); ++c) std::fill_n(to[c], count, value(c));
  }

  void filter_group(Worker& worker, std::size_t g, int y, PixelRows& pixels) const {
    const Group& group = job_.groups[g];
    const ComponentFilter& filter = filters_[group.table];
    const int position = y - job_.rows.begin;
    const int first = filter.down.first()[static_cast<std::size_t>(position)];
    const int taps = filter.down.taps();
    for (int row = first; row < first + taps; ++row) {
      if (worker.rings[group.first].has(row)) continue;
      load_samples(worker.rings, job_.components, group.first, group.count, filter, row);
      for (std::size_t c = group.first; c < group.first + group.count; ++c)
        worker.rings[c].filter(row, across_[group.table], arithmetic_);
    }
    for (std::size_t c = group.first; c < group.first + group.count; ++c) {
      std::int16_t* made = worker.blended[c][0].data();
      filter_columns(worker.rings[c].rows(first), filter.down.weights(position), taps, arithmetic_,
                     static_cast<std::size_t>(filter.across.positions()), made);
      pixels.upper[c] = pixels.lower[c] = made;
      pixels.upper_weight[c] = 2048;
      pixels.lower_weight[c] = 0;
    }
  }

  void blend_group(Worker& worker, std::size_t g, int y, PixelRows& pixels) {
    const Group& group = job_.groups[g];
    const Tap tap = job_.down[group.table].at(y);
    const std::size_t upper = blended_slot(worker, g, tap.first, tap.second);
    const std::size_t lower = blended_slot(worker, g, tap.second, tap.first);
    for (std::size_t c = group.first; c < group.first + group.count; ++c) {
      pixels.upper[c] = worker.blended[c][upper].data();
      pixels.lower[c] = worker.blended[c][lower].data();
      pixels.upper_weight[c] = static_cast<std::int16_t>(tap.first_weight);
      pixels.lower_weight[c] = static_cast<std::int16_t>(tap.second_weight);
    }
  }

  /// The slot of a group that holds row Y of the frame, filled if necessary; slot KEEP is not replaced.
  std::size_t blended_slot(Worker& worker, std::size_t g, int y, int keep) {
    auto& slots = worker.blended_row[g];
    if (slots[0] == y) return 0;
    if (slots[1] == y) return 1;
    const std::size_t slot = slots[0] == keep ? 1 : 0;
    const Group& group = job_.groups[g];
    const TapTable& table = tables_[group.table];
    const std::array<const std::uint8_t*, 3> samples = samples_of(worker, group, table, y);
    for (std::size_t i = 0; i < group.count; ++i)
      blend_samples(worker, table, samples[i], worker.blended[group.first + i][slot].data());
    slots[slot] = y;
    return slot;
  }

  /// The row's samples of each component of the group, deinterleaved.
  std::array<const std::uint8_t*, 3> samples_of(Worker& worker, const Group& group, const TapTable& table, int y) {
    const auto extent = static_cast<std::size_t>(table.extent);
    const auto source = [&](const Component& part) {
      return part.data + static_cast<std::ptrdiff_t>(y) * part.pitch +
             static_cast<std::ptrdiff_t>(table.begin) * part.step;
    };
    const Component& part = job_.components.parts[group.first];
    if (job_.components.mosaic) {
      const std::array colors = {worker.samples[0].data(), worker.samples[1].data(), worker.samples[2].data()};
      demosaic(job_.components.mosaic->row(y), table.begin, extent, colors);
      return {colors[0], colors[1], colors[2]};
    }
    const std::uint8_t* line = source(part);
    if (group.count == 3) {
      // Red is first or last in memory.
      const bool reversed = job_.components.parts[2].data < part.data;
      split_three(reversed ? line - 2 : line, extent,
                  {worker.samples[0].data(), worker.samples[1].data(), worker.samples[2].data()});
      const std::array<const std::uint8_t*, 3> split = {worker.samples[0].data(), worker.samples[1].data(),
                                                        worker.samples[2].data()};
      return reversed ? std::array{split[2], split[1], split[0]} : split;
    }
    if (part.step == 1 && extent > 1) return {line, nullptr, nullptr};
    std::uint8_t* copy = worker.samples[group.first].data();
    gather_samples(line, part.step, extent, copy);
    return {copy, nullptr, nullptr};
  }

  static void blend_samples(Worker& worker, const TapTable& table, const std::uint8_t* samples, std::int16_t* dst) {
    const std::size_t count = table.first.size();
    const auto at = [&](std::size_t x) { return samples + table.first[x]; };
    if (table.exact) {
      widen_samples(at(0), count, dst);
      return;
    }
    if (table.step == 2) {
      blend_pairs(at(0), table.weight.data(), count, dst);
      return;
    }
    std::uint8_t* pairs = worker.pairs.data();
    for (std::size_t x = 0; x < count; ++x) std::memcpy(pairs + 2 * x, at(x), 2);
    blend_pairs(pairs, table.weight.data(), count, dst);
  }

  PreprocessSpec spec_;
  bool tabled_;
  FilterArithmetic arithmetic_;
  bool is_half_;  ///< bfloat16
  bool interleaved_;
  const FrameView* frame_;
  void* tensor_;
  float* geometry_;
  Job job_;
  std::array<TapTable, 2> tables_;
  std::array<ComponentFilter, 2> filters_;  ///< instead of tables_, for interpolation by tables
  std::array<FilterColumns, 2> across_;     ///< of filters_
  std::array<int, 3> tables_for_{-1, -1, -1};
  std::vector<Worker> workers_;
};

class PreprocessLaunch : public Launch {
 public:
  PreprocessLaunch(const PreprocessSpec& spec, Layout layout) : spec_(spec), layout_(layout) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundPreprocess>(spec_, layout_, bindings);
  }

 private:
  PreprocessSpec spec_;
  Layout layout_;
};

class Preprocess : public Tactic {
 public:
  std::string_view name() const override { return "vector.preprocess"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Preprocess", "saccade")) return Support::other_operator("not saccade.Preprocess");
    if (context.node.outputs.empty() || context.node.outputs[0] == ValueId::kNone)
      return Support::no("its pixels are unused");
    const DType made = context.output().type.dtype;
    if (made != DType::kFloat32 && made != DType::kBFloat16) return Support::no("only float32 and bfloat16 are made");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return std::make_unique<PreprocessLaunch>(preprocess_spec(context.node.attributes), context.output().layout);
  }
};

}  // namespace

const Tactic& vector_preprocess() {
  static const Preprocess tactic;
  return tactic;
}

}  // namespace saccade::cpu
