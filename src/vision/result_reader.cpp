#include "vision/result_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/vision/faults.hpp"
#include "vision/bounds.hpp"

namespace saccade {
namespace {

/// Empty for a class that the head does not name.
std::string_view label(const Head& head, int class_id) {
  const auto i = static_cast<std::size_t>(class_id);
  return i < head.labels.size() ? std::string_view(head.labels[i]) : std::string_view();
}

Faults faults_in(const TensorView& bits) {
  return Faults(static_cast<std::uint32_t>(bits.as<const std::int32_t>()[0]));
}

/// On the frame, where cells may have other sides than on the map.
OrientedBox text_on_frame(const OrientedBox& box, const GridPlace& place) {
  const double across = std::cos(double{box.angle});
  const double down = std::sin(double{box.angle});
  const std::array<double, 2> width = {box.width * across / place.scale_x, box.width * down / place.scale_y};
  const double height = std::hypot(box.height * down / place.scale_x, box.height * across / place.scale_y);
  return along_text({static_cast<float>((box.x - place.offset_x) / place.scale_x),
                     static_cast<float>((box.y - place.offset_y) / place.scale_y),
                     static_cast<float>(std::hypot(width[0], width[1])), static_cast<float>(height),
                     static_cast<float>(std::atan2(width[1], width[0]))});
}

}  // namespace

ResultReader::ResultReader(const Card& card, PredictionOutputs outputs, const PostprocessOptions& options)
    : card_(&card), outputs_(std::move(outputs)), options_(options), spec_(preprocess_spec(card)) {
  owned_.reserve(most_objects());
}

std::size_t ResultReader::most_objects() const {
  const auto detectors = std::ranges::count_if(
      outputs_.heads, [](const HeadOutputs& head) { return head.detections.has_value() || head.text_map.has_value(); });
  return static_cast<std::size_t>(detectors) * static_cast<std::size_t>(options_.max_detections);
}

void ResultReader::prepare(Result& result) const {
  result.task = card_->task();
  for (std::size_t i = 0; i < outputs_.heads.size(); ++i) {
    if (outputs_.heads[i].classes) result.classes.reserve(static_cast<std::size_t>(options_.top_k));
    if (outputs_.heads[i].class_map) result.segments.reserve(card_->heads[i].labels.size());
  }
  result.detections.reserve(most_objects());
}

void ResultReader::read(std::span<const TensorView> outputs, int width, int height, Result& result) {
  placement_ = place(spec_, width, height);
  width_ = width;
  height_ = height;
  result.detections.clear();
  result.classes.clear();
  result.segments.clear();
  result.text = {};
  result.text_confidence = 0;
  result.faults = {};
  text_.clear();
  owned_.clear();
  keypoints_.clear();
  runs_.clear();
  const OutputViews views(outputs, outputs_.tensors);
  for (std::size_t i = 0; i < outputs_.heads.size(); ++i) read_head(card_->heads[i], outputs_.heads[i], views, result);
  hand_over(result);
}

void ResultReader::read_head(const Head& head, const HeadOutputs& outputs, const OutputViews& views, Result& result) {
  if (const auto& detections = outputs.detections) {
    read_detections(head, views[detections->rows], views[detections->count], result);
    result.faults.add(faults_in(views[detections->faults]));
  }
  if (outputs.keypoints) read_keypoints(views[outputs.keypoints->points], result);
  if (outputs.masks) read_masks(*outputs.masks, views, result);
  if (const auto& classes = outputs.classes) {
    read_classes(head, views[classes->rows], result);
    result.faults.add(faults_in(views[classes->faults]));
  }
  if (const auto& map = outputs.class_map) read_class_map(head, views[map->cells], map->from_model, result);
  if (const auto& depth = outputs.depth) read_depth(head, views[depth->cells], views[depth->rows], result);
  if (const auto& image = outputs.image) read_image(views[image->pixels], views[image->norm], result);
  if (const auto& embedding = outputs.embedding) read_embedding(views[embedding->vector], result);
  if (const auto& map = outputs.text_map) read_text_map(head, views[map->cells], result);
  if (const auto& text = outputs.text) read_text(head, *text, views, result);
}

GridPlace ResultReader::place_of(std::int64_t columns, std::int64_t rows) const {
  return grid_place(spec_, placement_, columns, rows);
}

void ResultReader::read_detections(const Head& head, const TensorView& rows, std::size_t count, Result& result) {
  const auto numbers = static_cast<std::size_t>(rows.shape[1]);
  const std::span<const float> data = rows.as<const float>();
  first_ = result.detections.size();
  for (std::size_t i = 0; i < std::min(count, data.size() / numbers); ++i) {
    const float* row = &data[numbers * i];
    Detection detection;
    detection.confidence = row[numbers - 2];
    detection.class_id = static_cast<int>(row[numbers - 1]);
    detection.class_name = label(head, detection.class_id);
    // Mapping to the frame may add faults to those of the candidates.
    result.faults.add(confidence_faults(detection.confidence));
    result.faults.add(box_faults({row, numbers - 2}));
    if (numbers == 6) {
      std::copy_n(row, 4, detection.box.begin());
    } else {
      detection.oriented = {row[0], row[1], row[2], row[3], row[4]};
      detection.box = bounds_of(*detection.oriented, width_, height_);
    }
    result.detections.push_back(detection);
    owned_.emplace_back();
  }
}

void ResultReader::read_keypoints(const TensorView& points, Result& result) {
  const auto count = static_cast<std::size_t>(points.shape[1]);
  const auto numbers = static_cast<std::size_t>(points.shape[2]);
  const float* from = points.as<const float>().data();
  keypoints_.reserve(most_objects() * count);
  for (std::size_t i = first_; i < owned_.size(); ++i) {
    owned_[i].keypoints = keypoints_.size();
    owned_[i].keypoint_count = count;
    for (std::size_t k = 0; k < count; ++k, from += numbers) {
      const Keypoint point{from[0], from[1], numbers > 2 ? from[2] : 1};
      keypoints_.push_back(point);
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) result.faults.add(Fault::kNotFiniteKeypoint);
      result.faults.add(confidence_faults(point.confidence));
    }
  }
}

void ResultReader::read_masks(const MaskOutputs& masks, const OutputViews& views, Result& result) {
  if (views[masks.untraced] == 0)
    read_runs(views[masks.runs], views[masks.numbers]);
  else
    trace_masks(masks.within, views[masks.grids], result);
  result.faults.add(faults_in(views[masks.faults]));
}

void ResultReader::read_runs(const TensorView& runs, const TensorView& numbers) {
  const auto* run = static_cast<const MaskRun*>(runs.data);
  const std::span<const std::int32_t> data = numbers.as<const std::int32_t>();
  for (std::size_t i = first_; i < owned_.size(); ++i) {
    const auto size = static_cast<std::size_t>(data[2 * (i - first_)]);
    owned_[i].mask = Mask{{run, size}, data[2 * (i - first_) + 1]};
    run += size;
  }
}

void ResultReader::trace_masks(MaskWithin within, const TensorView& grids, Result& result) {
  const auto plane = static_cast<std::size_t>(grids.shape[1] * grids.shape[2]);
  const std::span<const float> data = grids.as<const float>();
  const GridPlace whole = place_of(grids.shape[2], grids.shape[1]);
  // Two runs per row and object: more are rare.
  runs_.reserve(2 * most_objects() * static_cast<std::size_t>(height_));
  for (std::size_t i = first_; i < owned_.size(); ++i) {
    const MaskLook look = mask_look(within, whole, result.detections[i].box);
    Owned& owned = owned_[i];
    owned.runs = runs_.size();
    const std::int64_t area =
        tracer_.trace(look.place, data.subspan((i - first_) * plane, plane), look.within, look.threshold, runs_);
    if (tracer_.has_fault()) result.faults.add(Fault::kNotFiniteMask);
    owned.run_count = runs_.size() - owned.runs;
    owned.mask = Mask{{}, area};
  }
}

void ResultReader::read_classes(const Head& head, const TensorView& rows, Result& result) {
  const std::span<const float> data = rows.as<const float>();
  for (std::size_t i = 0; i < data.size() / 2; ++i) {
    const int class_id = static_cast<int>(data[2 * i + 1]);
    if (class_id >= 0) result.classes.push_back({class_id, label(head, class_id), data[2 * i]});
  }
}

void ResultReader::read_class_map(const Head& head, const TensorView& cells, bool from_model, Result& result) {
  ClassMap& map = result.class_map;
  map.place = place_of(cells.shape[1], cells.shape[0]);
  map.cells = cells.as<const std::int32_t>();
  map.background = head.background.value_or(-1);
  const auto cell = [](int pixel, double scale, double offset, int count) {
    return std::clamp(static_cast<int>(std::floor((pixel + 0.5) * scale + offset)), 0, count - 1);
  };
  const Region& seen = map.place.seen;
  columns_.assign(static_cast<std::size_t>(map.place.columns), 0);
  for (int x = seen.x; x < seen.x + seen.width; ++x)
    ++columns_[static_cast<std::size_t>(cell(x, map.place.scale_x, map.place.offset_x, map.place.columns))];
  pixels_.assign(head.labels.size(), 0);
  bool is_whole = true;
  for (int y = seen.y; y < seen.y + seen.height; ++y) {
    const auto row = static_cast<std::size_t>(cell(y, map.place.scale_y, map.place.offset_y, map.place.rows));
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      const std::int32_t cell = map.cells[row * columns_.size() + x];
      const auto class_id = static_cast<std::size_t>(cell);
      if (class_id < pixels_.size())
        pixels_[class_id] += columns_[x];
      else if (cell < 0 && columns_[x] > 0)
        is_whole = false;
    }
  }
  if (!from_model && !is_whole) result.faults.add(Fault::kNanClassMap);
  for (std::size_t c = 0; c < pixels_.size(); ++c)
    if (pixels_[c] > 0) result.segments.push_back({static_cast<int>(c), label(head, static_cast<int>(c)), pixels_[c]});
  std::ranges::stable_sort(result.segments, std::greater{}, &Segment::pixels);
}

void ResultReader::read_depth(const Head& head, const TensorView& cells, const TensorView& rows, Result& result) {
  DepthMap& map = result.depth;
  map.kind = head.depth;
  map.place = place_of(cells.shape[1], cells.shape[0]);
  map.cells = cells.as<const float>();
  const auto range = [](int first, int extent, double scale, double offset, int count) {
    const auto at = [&](double edge) { return std::clamp(static_cast<int>(edge * scale + offset), 0, count); };
    return std::array{at(first + 0.5), std::min(at(first + extent - 0.5) + 1, count)};
  };
  const Region& seen = map.place.seen;
  const auto [left, right] = range(seen.x, seen.width, map.place.scale_x, map.place.offset_x, map.place.columns);
  const auto [top, bottom] = range(seen.y, seen.height, map.place.scale_y, map.place.offset_y, map.place.rows);
  double sum = 0;
  double count = 0;
  double infinite = 0;
  map.min = INFINITY;
  map.max = -INFINITY;
  const auto add = [&](float least, float largest, double mean, double finite) {
    map.min = std::min(map.min, least);
    map.max = std::max(map.max, largest);
    sum += mean * finite;
    count += finite;
  };
  const bool is_whole = left == 0 && right == map.place.columns;
  for (int y = top; y < bottom; ++y) {
    const float* row = &rows.as<const float>()[5 * static_cast<std::size_t>(y)];
    if (is_whole) {
      add(row[0], row[1], row[2], row[3]);
      infinite += row[4];
    }
    const float* cell = map.cells.data() + static_cast<std::ptrdiff_t>(y) * map.place.columns;
    for (int x = left; x < right && !is_whole; ++x) {
      if (std::isfinite(cell[x])) add(cell[x], cell[x], cell[x], 1);
      if (cell[x] == INFINITY) ++infinite;
    }
  }
  // A metric depth may be infinite: the sky.
  const double valid = count + (map.kind == DepthKind::kMetric ? infinite : 0);
  if (valid < static_cast<double>(right - left) * (bottom - top)) result.faults.add(Fault::kNotFiniteDepth);
  if (count == 0) map.min = map.max = std::numeric_limits<float>::quiet_NaN();
  map.mean = count == 0 ? map.min : static_cast<float>(sum / count);
}

void ResultReader::read_image(const TensorView& pixels, const TensorView& norm, Result& result) {
  if (!std::isfinite(norm.as<const float>()[0])) result.faults.add(Fault::kNotFinitePixel);
  // Padding is cut off.
  const auto clip = [](std::int64_t at, std::int64_t extent, std::int64_t made, std::int64_t size) {
    const auto edge = [&](std::int64_t v) {
      return static_cast<int>(std::clamp<std::int64_t>(v, 0, size) * made / size);
    };
    return std::array{edge(at), edge(at + extent)};
  };
  const auto [left, right] = clip(placement_.x, placement_.width, pixels.shape[1], spec_.width);
  const auto [top, bottom] = clip(placement_.y, placement_.height, pixels.shape[0], spec_.height);
  const int pitch = static_cast<int>(3 * pixels.shape[1]);
  result.image = {
      .format = PixelFormat::kRgb24, .range = ColorRange::kFull, .width = right - left, .height = bottom - top};
  result.image.planes[0] = pixels.as<const std::uint8_t>().data() + static_cast<std::ptrdiff_t>(top) * pitch +
                           3 * static_cast<std::ptrdiff_t>(left);
  result.image.pitch_bytes[0] = pitch;
}

void ResultReader::read_embedding(const TensorView& vector, Result& result) {
  result.embedding = vector.as<const float>();
  double squares = 0;
  for (const float value : result.embedding) squares += static_cast<double>(value) * value;
  if (!std::isfinite(squares) || squares == 0) result.faults.add(Fault::kInvalidEmbedding);
}

void ResultReader::read_text_map(const Head& head, const TensorView& cells, Result& result) {
  const GridPlace place = place_of(cells.shape[1], cells.shape[0]);
  const TextBoxOptions options = {head.map_threshold, options_.confidence.value_or(head.conf.front()),
                                  head.unclip_ratio};
  first_ = result.detections.size();
  const auto most = static_cast<std::size_t>(options_.max_detections);
  for (const TextBox& found : text_boxes_.find(cells.as<const float>(), place.columns, options)) {
    Detection detection;
    detection.class_name = label(head, 0);
    detection.confidence = found.confidence;
    detection.oriented = text_on_frame(found.box, place);
    detection.box = bounds_of(*detection.oriented, width_, height_);
    // In the padding.
    if (detection.box[0] >= detection.box[2] || detection.box[1] >= detection.box[3]) continue;
    if (result.detections.size() - first_ == most) break;
    result.detections.push_back(detection);
    owned_.emplace_back();
  }
  result.faults.add(text_boxes_.faults());
}

void ResultReader::read_text(const Head& head, const TextOutputs& text, const OutputViews& views, Result& result) {
  const std::span<const std::int32_t> classes = views[text.classes].as<const std::int32_t>();
  const std::span<const float> scores = views[text.scores].as<const float>();
  const std::span<const float> norms = views[text.norms].as<const float>();
  double sum = 0;
  int count = 0;
  Faults faults;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    faults.add(confidence_faults(std::isnan(norms[i]) ? NAN : scores[i]));
    // A character is repeated only after a blank, which is class 0.
    if (classes[i] <= 0 || (i > 0 && classes[i] == classes[i - 1])) continue;
    text_ += head.characters[static_cast<std::size_t>(classes[i]) - 1];
    sum += scores[i];
    ++count;
  }
  result.faults.add(faults);
  // A column without a class leaves the line unknown.
  if (count == 0 || faults.has(Fault::kNanConfidence)) return;
  result.text = text_;
  result.text_confidence = static_cast<float>(sum / count);
}

void ResultReader::hand_over(Result& result) const {
  for (std::size_t i = 0; i < owned_.size(); ++i) {
    const Owned& owned = owned_[i];
    Detection& detection = result.detections[i];
    detection.keypoints = {keypoints_.data() + owned.keypoints, owned.keypoint_count};
    detection.mask = owned.mask;
    if (owned.run_count > 0) detection.mask->runs = {runs_.data() + owned.runs, owned.run_count};
  }
}

}  // namespace saccade
