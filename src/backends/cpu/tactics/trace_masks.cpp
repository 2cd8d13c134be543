#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "cpu/kernels/mask_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/vision/faults.hpp"
#include "ops/vision/mask_place.hpp"

// Vectorised saccade.TraceMasks, bit-exact with the reference (MaskTracer). Threads trace some rows of an object at a
// time, as bits; the runs are put in order at the end. Bound: four float32 operations per pixel of the objects' boxes.
namespace saccade::cpu {
namespace {

constexpr int kRowsOfPart = 32;
constexpr std::size_t kBitsOfWord = 64;

/// SIDE of a frame; 0 if it is none, which place() refuses.
std::size_t pixels(float side) {
  constexpr float kMost = 1 << 28;
  return side > 0 ? static_cast<std::size_t>(std::min(side, kMost)) : 0;
}

/// Rows of an object on the frame, and what was found there.
struct Part {
  std::size_t object = 0;
  int begin = 0;
  int end = 0;
  const MaskRun* runs = nullptr;
  std::size_t count = 0;  ///< of runs
  std::int64_t area = 0;  ///< pixels
};

/// The scratch of one rank.
class RowTracer {
 public:
  /// Before a frame of WIDTH columns whose masks have at most MOST runs. Allocates if that is more than before.
  void begin_frame(std::size_t most, std::size_t width) {
    const std::size_t padded = (width + kBitsOfWord - 1) / kBitsOfWord * kBitsOfWord;
    if (bits_.size() * kBitsOfWord < padded) {
      bits_.resize(padded / kBitsOfWord);
      first_.resize(padded);
      second_.resize(padded);
      share_.resize(padded);
      for (auto& row : rows_) row.resize(padded);
    }
    runs_.clear();
    runs_.reserve(most + (width + 1) / 2);  // trace() asks for the room of a whole row
    grid_ = nullptr;
    is_sound_ = true;
  }

  /// Traces PART of an object whose cells are GRID. False if the frame's masks have more runs than begin_frame() said.
  bool trace(const MaskLook& look, const float* grid, Part& part) {
    if (grid_ != grid) begin_object(look, grid);
    part.runs = runs_.data() + runs_.size();
    const std::size_t before = runs_.size();
    for (int y = part.begin; y < part.end; ++y) {
      if (runs_.capacity() - runs_.size() < (width_ + 1) / 2) return false;
      const GridTap down = tap_down(look.place, y);
      mask_kernels().exceeding(row(look, down.first), row(look, down.second), down.share, look.threshold, bits_.data(),
                               padded_);
      part.area += add_runs(look.within.x1, y);
    }
    part.count = runs_.size() - before;
    return true;
  }

  bool is_sound() const { return is_sound_; }

 private:
  void begin_object(const MaskLook& look, const float* grid) {
    grid_ = grid;
    held_[0] = held_[1] = -1;
    width_ = static_cast<std::size_t>(look.within.x2 - look.within.x1);
    padded_ = (width_ + kBitsOfWord - 1) / kBitsOfWord * kBitsOfWord;
    for (std::size_t i = 0; i < padded_; ++i) {
      const GridTap at = tap_across(look.place, look.within.x1 + static_cast<int>(std::min(i, width_ - 1)));
      first_[i] = at.first;
      second_[i] = at.second;
      share_[i] = at.share;
    }
  }

  /// A row of the grid, interpolated at every column of the object.
  const float* row(const MaskLook& look, int index) {
    const auto slot = static_cast<std::size_t>(index % 2);
    if (held_[slot] != index) {
      is_sound_ &= mask_kernels().sample(grid_ + static_cast<std::ptrdiff_t>(index) * look.place.columns, first_.data(),
                                         second_.data(), share_.data(), rows_[slot].data(), padded_);
      held_[slot] = index;
    }
    return rows_[slot].data();
  }

  /// Appends the runs of ones in the bits of row Y, which begins at X; returns the number of ones.
  std::int64_t add_runs(int x, int y) {
    if (const std::size_t used = width_ % kBitsOfWord; used > 0)
      bits_[width_ / kBitsOfWord] &= ~std::uint64_t{0} >> (kBitsOfWord - used);
    std::int64_t area = 0;
    int start = -1;
    std::uint64_t last = 0;  // the bit before
    for (std::size_t i = 0; i < padded_ / kBitsOfWord; ++i) {
      const std::uint64_t word = bits_[i];
      const int at = x + static_cast<int>(i * kBitsOfWord);
      for (std::uint64_t edges = word ^ (word << 1U | last); edges != 0; edges &= edges - 1) {
        const int edge = at + std::countr_zero(edges);
        if (start < 0) {
          start = edge;
          continue;
        }
        runs_.push_back({y, start, edge});
        area += edge - start;
        start = -1;
      }
      last = word >> (kBitsOfWord - 1);
    }
    if (start < 0) return area;
    const int end = x + static_cast<int>(width_);
    runs_.push_back({y, start, end});
    return area + end - start;
  }

  std::vector<std::int32_t> first_;
  std::vector<std::int32_t> second_;
  std::vector<float> share_;
  std::vector<float> rows_[2];
  std::vector<std::uint64_t> bits_;
  std::vector<MaskRun> runs_;
  const float* grid_ = nullptr;  ///< of the object whose taps are held
  int held_[2] = {-1, -1};       ///< the cached rows of the grid
  std::size_t width_ = 0;        ///< pixels
  std::size_t padded_ = 0;
  bool is_sound_ = true;
};

class BoundTraceMasks : public BoundLaunch {
 public:
  BoundTraceMasks(const PreprocessSpec& spec, MaskWithin within, const Bindings& bindings)
      : spec_(spec), within_(within), grids_(bindings.inputs[0]) {
    const auto in = [&](std::size_t i) { return bindings.inputs[i].data; };
    const auto out = [&](std::size_t i) { return static_cast<std::int32_t*>(bindings.outputs[i].data); };
    count_ = static_cast<const std::int32_t*>(in(1));
    boxes_ = within == MaskWithin::kImage ? nullptr : static_cast<const float*>(in(2));
    geometry_ = static_cast<const float*>(in(3));
    runs_ = out(0);
    capacity_ = static_cast<std::size_t>(bindings.outputs[0].shape[0]);
    objects_ = out(1);
    used_ = out(2);
    untraced_ = out(3);
    faults_ = out(4);
    looks_.reserve(static_cast<std::size_t>(grids_.shape[0]));
    areas_.reserve(static_cast<std::size_t>(grids_.shape[0]));
  }

  void run() override {
    *used_ = *untraced_ = *faults_ = 0;
    prepare();
    const std::int64_t count = std::clamp<std::int64_t>(*count_, 0, grids_.shape[0]);
    if (count == 0) return;
    const std::int64_t area = divide(count);
    std::atomic<bool> fits{true};
    const auto plane = grids_.shape[1] * grids_.shape[2];
    const auto parts = static_cast<std::int64_t>(parts_.size());
    parallel_for(parts, kParallelGrain * parts / std::max<std::int64_t>(area, 1) + 1, [&](auto begin, auto end) {
      RowTracer& tracer = tracers_[static_cast<std::size_t>(current_rank().rank)];
      for (std::int64_t i = begin; i < end && fits.load(std::memory_order_relaxed); ++i) {
        Part& part = parts_[static_cast<std::size_t>(i)];
        const float* grid = static_cast<const float*>(grids_.data) + static_cast<std::int64_t>(part.object) * plane;
        if (!tracer.trace(looks_[part.object], grid, part)) fits = false;
      }
    });
    if (!fits || !collect(count)) {
      *untraced_ = static_cast<std::int32_t>(count);
      return;
    }
    if (!std::ranges::all_of(tracers_, &RowTracer::is_sound)) {
      Faults faults;
      faults.add(Fault::kNotFiniteMask);
      *faults_ = to_output(faults);
    }
  }

 private:
  /// Allocates if the frame or the team is larger than all before, with or without objects.
  void prepare() {
    const std::size_t height = pixels(geometry_[5]);
    if (tracers_.size() < static_cast<std::size_t>(team_size())) tracers_.resize(static_cast<std::size_t>(team_size()));
    for (RowTracer& tracer : tracers_) tracer.begin_frame(capacity_, pixels(geometry_[4]));
    parts_.clear();
    parts_.reserve(static_cast<std::size_t>(grids_.shape[0]) * (height / kRowsOfPart + 1));
    looks_.clear();
  }

  /// Divides the pixels where COUNT objects may be into parts; returns their number.
  std::int64_t divide(std::int64_t count) {
    const Placement placement = place(spec_, static_cast<int>(geometry_[4]), static_cast<int>(geometry_[5]));
    const GridPlace whole = grid_place(spec_, placement, grids_.shape[2], grids_.shape[1]);
    std::int64_t area = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      std::array<float, 4> box{};
      if (boxes_ != nullptr) std::copy_n(boxes_ + 6 * i, 4, box.begin());
      const MaskLook& look = looks_.emplace_back(mask_look(within_, whole, box));
      if (look.within.empty() || look.place.columns < 1 || look.place.rows < 1) continue;
      for (int y = look.within.y1; y < look.within.y2; y += kRowsOfPart)
        parts_.push_back({.object = i, .begin = y, .end = std::min(y + kRowsOfPart, look.within.y2)});
      area += std::int64_t{look.within.x2 - look.within.x1} * (look.within.y2 - look.within.y1);
    }
    return area;
  }

  /// Writes what the parts have found. False if there is no room for all runs.
  bool collect(std::int64_t count) {
    std::size_t used = 0;
    for (const Part& part : parts_) used += part.count;
    if (used > capacity_) return false;
    std::fill_n(objects_, 2 * count, 0);
    areas_.assign(static_cast<std::size_t>(count), 0);
    std::int32_t* to = runs_;
    for (const Part& part : parts_) {
      if (part.count > 0) std::memcpy(to, part.runs, part.count * sizeof(MaskRun));
      to += 3 * part.count;
      objects_[2 * part.object] += static_cast<std::int32_t>(part.count);
      areas_[part.object] += part.area;
    }
    for (std::size_t i = 0; i < areas_.size(); ++i) objects_[2 * i + 1] = static_cast<std::int32_t>(areas_[i]);
    *used_ = static_cast<std::int32_t>(used);
    return true;
  }

  PreprocessSpec spec_;
  MaskWithin within_;
  TensorView grids_;
  const std::int32_t* count_;
  const float* boxes_;  ///< null: masks may be anywhere
  const float* geometry_;
  std::int32_t* runs_;
  std::size_t capacity_;
  std::int32_t* objects_;
  std::int32_t* used_;
  std::int32_t* untraced_;
  std::int32_t* faults_;
  std::vector<MaskLook> looks_;      ///< by object
  std::vector<std::int64_t> areas_;  ///< by object, pixels
  std::vector<Part> parts_;
  std::vector<RowTracer> tracers_;  ///< by rank
};

class TraceMasksLaunch : public Launch {
 public:
  TraceMasksLaunch(PreprocessSpec spec, MaskWithin within) : spec_(std::move(spec)), within_(within) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundTraceMasks>(spec_, within_, bindings);
  }

 private:
  PreprocessSpec spec_;
  MaskWithin within_;
};

class TraceMasks : public Tactic {
 public:
  std::string_view name() const override { return "vector.trace_masks"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("TraceMasks", "saccade")) return Support::other_operator("not saccade.TraceMasks");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    if (!is_row_major(context.input(0))) return Support::no("its grids are channels-last");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Attributes& attributes = context.node.attributes;
    return std::make_unique<TraceMasksLaunch>(preprocess_spec(attributes), mask_within(attributes));
  }
};

}  // namespace

const Tactic& vector_trace_masks() {
  static const TraceMasks tactic;
  return tactic;
}

}  // namespace saccade::cpu
