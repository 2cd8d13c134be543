#include <algorithm>
#include <cstring>

#include "media/convert.hpp"
#include "pipeline/model/bicubic_chroma.hpp"
#include "pipeline/model/tilings.hpp"

// A super-resolution network computes the border of its image from padding. Tiles therefore overlap: the outer quarters
// of an overlap are cropped, and between them one tile is faded into the next, so that no seam shows.
namespace saccade {
namespace {

/// Pixels of the input that neighbouring tiles have in common, or a quarter of a small input: the outer quarter, which
/// is cropped, covers the receptive field of a network of a few layers.
constexpr int kImageOverlap = 32;

int overlap_of(int size) { return std::min(kImageOverlap, size / 4); }

/// How a tile's output pixels replace those of the tiles before it, along one axis.
struct FadeIn {
  std::vector<int> weights;  ///< 0 to 256, ascending
  int begin = 0;             ///< the first with a weight
  int whole = 0;             ///< the first with the full weight

  void set(std::span<const TileSpan> tiles, std::size_t i, int made) {
    const int overlap = i == 0 ? 0 : tiles[i - 1].end - tiles[i].begin;
    const double scale = static_cast<double>(tiles[i].end - tiles[i].begin) / made;
    weights.resize(static_cast<std::size_t>(made));
    for (int p = 0; p < made; ++p) {
      const double share = overlap == 0 ? 1 : ((p + 0.5) * scale - overlap / 4.0) / (overlap / 2.0);
      weights[static_cast<std::size_t>(p)] = static_cast<int>(std::clamp(share, 0.0, 1.0) * 256);
    }
    begin = static_cast<int>(std::ranges::upper_bound(weights, 0) - weights.begin());
    whole = static_cast<int>(std::ranges::lower_bound(weights, 256) - weights.begin());
  }
};

/// Fades COUNT samples from TO into FROM.
void mix_samples(const std::uint8_t* from, std::uint8_t* to, std::ptrdiff_t count, int weight) {
  for (std::ptrdiff_t i = 0; i < count; ++i)
    to[i] = static_cast<std::uint8_t>((to[i] * (256 - weight) + from[i] * weight + 128) >> 8);
}

class ImageTiling final : public Tiling {
 public:
  ImageTiling(const Card& card, std::optional<Region> roi)
      : tile_width_(card.width), tile_height_(card.height), is_luma_(card.color == ChannelOrder::kGray), roi_(roi) {}

  std::size_t begin(const FrameView& frame) override {
    take_pixels(frame);
    grid_.cover({0, pixels_.width, tile_width_, overlap_of(tile_width_)},
                {0, pixels_.height, tile_height_, overlap_of(tile_height_)});
    return grid_.size();
  }

  bool reads_pixels() const override { return true; }
  FrameView tile(std::size_t i) const override { return crop(view_of(pixels_), grid_[i]); }

  void add(std::size_t i, const Result& predictions) override {
    const std::size_t columns = grid_.columns().size();
    if (i == 0) reserve(predictions.image);
    add_to_strip(i % columns, predictions.image);
    if (i % columns == columns - 1) add_strip(i / columns);
  }

  void finish(Result& result) override {
    const int width = out_x(area_.width);
    const int height = out_y(area_.height);
    if (is_luma_) {
      const RgbView source{pixels_.data, pixels_.pitch_bytes, area_.width, area_.height};
      chroma_.begin(source, width, height);
      for (int y = 0; y < height; ++y) chroma_.color_row(y, image_.data() + y * pitch());
    }
    result.image = view_of({image_.data(), static_cast<int>(pitch()), width, height});
  }

 private:
  /// The area as RGB. One smaller than a tile is continued to the right and below with its last pixels.
  void take_pixels(const FrameView& frame) {
    area_ = tiled_area(frame, roi_);
    const int width = std::max(area_.width, tile_width_);
    const int height = std::max(area_.height, tile_height_);
    rgb_.resize(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    pixels_ = {rgb_.data(), 3 * width, width, height};
    to_rgb(crop(frame, area_), {rgb_.data(), 3 * width, area_.width, area_.height});
    for (int y = 0; y < area_.height && width > area_.width; ++y) {
      std::uint8_t* last = row_of(y) + std::ptrdiff_t{3} * (area_.width - 1);
      for (int x = area_.width; x < width; ++x) last = std::copy_n(last, 3, last + 3) - 3;
    }
    for (int y = area_.height; y < height; ++y)
      std::memcpy(row_of(y), row_of(area_.height - 1), static_cast<std::size_t>(pixels_.pitch_bytes));
  }

  std::uint8_t* row_of(int y) const { return pixels_.data + static_cast<std::ptrdiff_t>(y) * pixels_.pitch_bytes; }

  int out_x(int x) const { return static_cast<int>(std::int64_t{x} * made_width_ / tile_width_); }
  int out_y(int y) const { return static_cast<int>(std::int64_t{y} * made_height_ / tile_height_); }
  std::ptrdiff_t pitch() const { return std::ptrdiff_t{3} * out_x(pixels_.width); }

  void reserve(const FrameView& made) {
    made_width_ = made.width;
    made_height_ = made.height;
    strip_.resize(static_cast<std::size_t>(pitch() * made_height_));
    image_.resize(static_cast<std::size_t>(pitch() * out_y(pixels_.height)));
  }

  void add_to_strip(std::size_t column, const FrameView& made) {
    fade_.set(grid_.columns(), column, made_width_);
    const std::ptrdiff_t left = std::ptrdiff_t{3} * out_x(grid_.columns()[column].begin);
    for (int y = 0; y < made_height_; ++y) {
      const std::uint8_t* from = made.planes[0] + static_cast<std::ptrdiff_t>(y) * made.pitch_bytes[0];
      std::uint8_t* to = strip_.data() + y * pitch() + left;
      for (int x = fade_.begin; x < fade_.whole; ++x)
        mix_samples(from + std::ptrdiff_t{3} * x, to + std::ptrdiff_t{3} * x, 3,
                    fade_.weights[static_cast<std::size_t>(x)]);
      std::copy(from + std::ptrdiff_t{3} * fade_.whole, from + std::ptrdiff_t{3} * made_width_,
                to + std::ptrdiff_t{3} * fade_.whole);
    }
  }

  void add_strip(std::size_t row) {
    fade_.set(grid_.rows(), row, made_height_);
    const int top = out_y(grid_.rows()[row].begin);
    for (int y = fade_.begin; y < made_height_; ++y) {
      const std::uint8_t* from = strip_.data() + y * pitch();
      std::uint8_t* to = image_.data() + (top + y) * pitch();
      if (y < fade_.whole)
        mix_samples(from, to, pitch(), fade_.weights[static_cast<std::size_t>(y)]);
      else
        std::copy_n(from, pitch(), to);
    }
  }

  int tile_width_;
  int tile_height_;
  bool is_luma_;
  std::optional<Region> roi_;
  Region area_;
  TileGrid grid_;
  std::vector<std::uint8_t> rgb_;
  RgbView pixels_;      ///< the area in rgb_, at least as large as a tile
  int made_width_ = 0;  ///< of a tile's image
  int made_height_ = 0;
  std::vector<std::uint8_t> strip_;  ///< the images of a row of tiles
  std::vector<std::uint8_t> image_;
  FadeIn fade_;
  BicubicChroma chroma_;
};

}  // namespace

std::unique_ptr<Tiling> tile_image(const Card& card, std::optional<Region> roi) {
  return std::make_unique<ImageTiling>(card, roi);
}

}  // namespace saccade
