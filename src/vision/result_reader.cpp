#include "vision/result_reader.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

/// Empty for a class that the head does not name.
std::string_view label(const Head& head, int class_id) {
  const auto i = static_cast<std::size_t>(class_id);
  return i < head.labels.size() ? std::string_view(head.labels[i]) : std::string_view();
}

/// Pixels of an axis whose centres lie between two edges in the tensor: SCALE tensor pixels a pixel from ORIGIN on.
struct PixelSpan {
  int begin = 0;
  int end = 0;
};
PixelSpan seen_pixels(int origin, int extent, std::int64_t at, std::int64_t scaled, int size) {
  const double scale = static_cast<double>(scaled) / extent;
  const auto pixel = [&](double edge) {
    const double centre = (edge - static_cast<double>(at)) / scale - 0.5;
    return origin + static_cast<int>(std::clamp(std::ceil(centre), 0.0, static_cast<double>(extent)));
  };
  return {pixel(0), pixel(size)};
}

/// The first pixel at or behind an edge, as far as the limits allow.
int first_pixel(float edge, int low, int high) {
  const float at = std::ceil(edge);
  if (!(at > static_cast<float>(low))) return low;
  return at < static_cast<float>(high) ? static_cast<int>(at) : high;
}

/// Pixels whose place is at least one edge and below the other; none where an edge is no number.
PixelExtent pixels_of(const std::array<float, 4>& box, const Region& seen) {
  if (std::ranges::any_of(box, [](float edge) { return std::isnan(edge); })) return {};
  const int right = seen.x + seen.width;
  const int bottom = seen.y + seen.height;
  return {first_pixel(box[0], seen.x, right), first_pixel(box[1], seen.y, bottom), first_pixel(box[2], seen.x, right),
          first_pixel(box[3], seen.y, bottom)};
}

/// A grid that lies on a box of the frame.
GridPlace place_on(const std::array<float, 4>& box, std::int64_t columns, std::int64_t rows, const Region& seen) {
  const double width = std::max<double>(box[2] - box[0], 1e-6);
  const double height = std::max<double>(box[3] - box[1], 1e-6);
  const double across = static_cast<double>(columns) / width;
  const double down = static_cast<double>(rows) / height;
  return {static_cast<int>(columns), static_cast<int>(rows), across, down, -box[0] * across, -box[1] * down, seen};
}

}  // namespace

ResultReader::ResultReader(const Card& card, std::vector<AnswerOutput> answers, const PostOptions& options)
    : card_(&card), answers_(std::move(answers)), options_(options), spec_(preprocess_spec(card)) {
  owned_.reserve(most_objects());
}

std::size_t ResultReader::most_objects() const {
  const auto lists = std::ranges::count(answers_, Answer::kCount, &AnswerOutput::kind);
  return static_cast<std::size_t>(lists) * static_cast<std::size_t>(options_.max_det);
}

void ResultReader::prepare(Result& result) const {
  result.task = card_->task();
  for (const AnswerOutput& answer : answers_) {
    const Head& head = card_->heads[answer.head];
    if (answer.kind == Answer::kClasses) result.classes.reserve(static_cast<std::size_t>(options_.top_k));
    if (answer.kind == Answer::kClassMap) result.segments.reserve(head.labels.size());
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
  owned_.clear();
  keypoints_.clear();
  runs_.clear();
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    const Head& head = card_->heads[answers_[i].head];
    switch (answers_[i].kind) {
      case Answer::kDetections:
      case Answer::kOriented: read_detections(head, outputs[i], outputs[i + 1], result); break;
      case Answer::kCount: break;
      case Answer::kKeypoints: read_keypoints(outputs[i]); break;
      case Answer::kBoxMasks:
      case Answer::kMasks:
      case Answer::kRegions: read_masks(answers_[i].kind, outputs[i], result); break;
      case Answer::kClasses: read_classes(head, outputs[i], result); break;
      case Answer::kClassMap: read_class_map(head, outputs[i], result); break;
      case Answer::kDepth: read_depth(head, outputs[i], outputs[i + 1], result); break;
      case Answer::kDepthRows: break;
      case Answer::kImage: read_image(outputs[i], result); break;
    }
  }
  hand_over(result);
}

GridPlace ResultReader::place_of(std::int64_t columns, std::int64_t rows) const {
  const Region& source = placement_.source;
  const double cells_across = static_cast<double>(columns) / spec_.width;
  const double cells_down = static_cast<double>(rows) / spec_.height;
  GridPlace place{.columns = static_cast<int>(columns), .rows = static_cast<int>(rows)};
  place.scale_x = static_cast<double>(placement_.width * columns) / (static_cast<double>(source.width) * spec_.width);
  place.scale_y = static_cast<double>(placement_.height * rows) / (static_cast<double>(source.height) * spec_.height);
  place.offset_x = static_cast<double>(placement_.x) * cells_across - source.x * place.scale_x;
  place.offset_y = static_cast<double>(placement_.y) * cells_down - source.y * place.scale_y;
  const PixelSpan across = seen_pixels(source.x, source.width, placement_.x, placement_.width, spec_.width);
  const PixelSpan down = seen_pixels(source.y, source.height, placement_.y, placement_.height, spec_.height);
  place.seen = {across.begin, down.begin, across.end - across.begin, down.end - down.begin};
  return place;
}

void ResultReader::read_detections(const Head& head, const TensorView& rows, const TensorView& count, Result& result) {
  const auto numbers = static_cast<std::size_t>(rows.shape[1]);
  const std::span<const float> data = rows.as<const float>();
  const auto said = static_cast<std::size_t>(std::max(count.as<const std::int32_t>()[0], 0));
  first_ = result.detections.size();
  for (std::size_t i = 0; i < std::min(said, data.size() / numbers); ++i) {
    const float* row = &data[numbers * i];
    Detection detection;
    detection.confidence = row[numbers - 2];
    detection.class_id = static_cast<int>(row[numbers - 1]);
    detection.class_name = label(head, detection.class_id);
    if (numbers == 6) {
      std::copy_n(row, 4, detection.box.begin());
    } else {
      detection.oriented = {row[0], row[1], row[2], row[3], row[4]};
      const std::array<float, 8> corners = detection.oriented->corners();
      const auto limit = [](float value, int most) { return std::clamp(value, 0.0F, static_cast<float>(most)); };
      detection.box = {limit(std::min({corners[0], corners[2], corners[4], corners[6]}), width_),
                       limit(std::min({corners[1], corners[3], corners[5], corners[7]}), height_),
                       limit(std::max({corners[0], corners[2], corners[4], corners[6]}), width_),
                       limit(std::max({corners[1], corners[3], corners[5], corners[7]}), height_)};
    }
    result.detections.push_back(detection);
    owned_.emplace_back();
  }
}

void ResultReader::read_keypoints(const TensorView& points) {
  const auto count = static_cast<std::size_t>(points.shape[1]);
  const auto numbers = static_cast<std::size_t>(points.shape[2]);
  const float* from = points.as<const float>().data();
  keypoints_.reserve(most_objects() * count);
  for (std::size_t i = first_; i < owned_.size(); ++i) {
    owned_[i].keypoints = keypoints_.size();
    owned_[i].keypoint_count = count;
    for (std::size_t k = 0; k < count; ++k, from += numbers)
      keypoints_.push_back({from[0], from[1], numbers > 2 ? from[2] : 1});
  }
}

void ResultReader::read_masks(Answer kind, const TensorView& grids, const Result& result) {
  const std::int64_t rows = grids.shape[1];
  const std::int64_t columns = grids.shape[2];
  const auto plane = static_cast<std::size_t>(rows * columns);
  const std::span<const float> data = grids.as<const float>();
  const GridPlace whole = place_of(columns, rows);
  const Region& seen = whole.seen;
  // A run a row and object, and as many again: more are rare.
  runs_.reserve(2 * most_objects() * static_cast<std::size_t>(height_));
  for (std::size_t i = first_; i < owned_.size(); ++i) {
    const std::array<float, 4>& box = result.detections[i].box;
    const PixelExtent extent = kind == Answer::kMasks
                                   ? PixelExtent{seen.x, seen.y, seen.x + seen.width, seen.y + seen.height}
                                   : pixels_of(box, seen);
    const bool on_box = kind == Answer::kRegions;
    Owned& owned = owned_[i];
    owned.has_mask = true;
    owned.runs = runs_.size();
    owned.area = tracer_.trace(on_box ? place_on(box, columns, rows, seen) : whole,
                               data.subspan((i - first_) * plane, plane), extent, on_box ? 0.5F : 0, runs_);
    owned.run_count = runs_.size() - owned.runs;
  }
}

void ResultReader::read_classes(const Head& head, const TensorView& rows, Result& result) {
  const std::span<const float> data = rows.as<const float>();
  for (std::size_t i = 0; i < data.size() / 2; ++i) {
    const int class_id = static_cast<int>(data[2 * i + 1]);
    if (class_id >= 0) result.classes.push_back({class_id, label(head, class_id), data[2 * i]});
  }
}

void ResultReader::read_class_map(const Head& head, const TensorView& cells, Result& result) {
  ClassMap& map = result.class_map;
  map.place = place_of(cells.shape[1], cells.shape[0]);
  map.cells = cells.as<const std::int32_t>();
  const auto cell = [](int pixel, double scale, double offset, int count) {
    return std::clamp(static_cast<int>(std::floor((pixel + 0.5) * scale + offset)), 0, count - 1);
  };
  const Region& seen = map.place.seen;
  columns_.assign(static_cast<std::size_t>(map.place.columns), 0);
  for (int x = seen.x; x < seen.x + seen.width; ++x)
    ++columns_[static_cast<std::size_t>(cell(x, map.place.scale_x, map.place.offset_x, map.place.columns))];
  pixels_.assign(head.labels.size(), 0);
  for (int y = seen.y; y < seen.y + seen.height; ++y) {
    const auto row = static_cast<std::size_t>(cell(y, map.place.scale_y, map.place.offset_y, map.place.rows));
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      const auto class_id = static_cast<std::size_t>(map.cells[row * columns_.size() + x]);
      if (class_id < pixels_.size()) pixels_[class_id] += columns_[x];
    }
  }
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
  map.min = INFINITY;
  map.max = -INFINITY;
  const auto add = [&](float least, float largest, double of_all, double finite) {
    map.min = std::min(map.min, least);
    map.max = std::max(map.max, largest);
    sum += of_all;
    count += finite;
  };
  const bool is_whole = left == 0 && right == map.place.columns;
  for (int y = top; y < bottom; ++y) {
    const float* row = &rows.as<const float>()[4 * static_cast<std::size_t>(y)];
    if (is_whole) add(row[0], row[1], row[2], row[3]);
    const float* cell = map.cells.data() + static_cast<std::ptrdiff_t>(y) * map.place.columns;
    for (int x = left; x < right && !is_whole; ++x)
      if (std::isfinite(cell[x])) add(cell[x], cell[x], cell[x], 1);
  }
  if (count == 0) map.min = map.max = 0;
  map.mean = count == 0 ? 0 : static_cast<float>(sum / count);
}

void ResultReader::read_image(const TensorView& pixels, Result& result) {
  // What the card padded is cut off again.
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

void ResultReader::hand_over(Result& result) const {
  for (std::size_t i = 0; i < owned_.size(); ++i) {
    const Owned& owned = owned_[i];
    Detection& detection = result.detections[i];
    detection.keypoints = {keypoints_.data() + owned.keypoints, owned.keypoint_count};
    if (owned.has_mask) detection.mask = Mask{{runs_.data() + owned.runs, owned.run_count}, owned.area};
  }
}

}  // namespace saccade
