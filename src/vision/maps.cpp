#include "saccade/maps.hpp"

#include "base/error.hpp"
#include "tensor/frame.hpp"
#include "vision/map_rows.hpp"

namespace saccade {
namespace {

template <typename Map, typename Value>
void read_rows(const Map& map, int width, int height, std::span<Value> pixels) {
  check_size(width, height);
  const auto pitch = static_cast<std::size_t>(width);
  if (pixels.size() != pitch * static_cast<std::size_t>(height))
    fail(ErrorCode::kInvalidArgument, "a map of {}x{} pixels can't be written into {} elements", width, height,
         pixels.size());
  MapRows rows;
  for (int y = 0; y < height; ++y) rows.read(map, y, pixels.subspan(static_cast<std::size_t>(y) * pitch, pitch));
}

}  // namespace

void to_pixels(const ClassMap& map, int width, int height, std::span<std::int32_t> pixels) {
  read_rows(map, width, height, pixels);
}

void to_pixels(const DepthMap& map, int width, int height, std::span<float> pixels) {
  read_rows(map, width, height, pixels);
}

}  // namespace saccade
