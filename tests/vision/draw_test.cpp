#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/module.hpp"
#include "vision/drawer.hpp"

namespace saccade {
namespace {

struct Rgb {
  int r, g, b;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};
constexpr Rgb kGray = {90, 90, 90};

/// A grey picture with a border of padding after each row, and what was drawn on it.
class Page {
 public:
  Page(int width, int height)
      : width_(width), height_(height), bytes_(static_cast<std::size_t>((3 * width + kPadding) * height), 90) {}

  void draw(const Result& result) { module<DrawModule>("draw").make_drawer()->draw(result, view()); }
  RgbView view() { return {bytes_.data(), 3 * width_ + kPadding, width_, height_}; }
  Rgb at(int x, int y) const {
    const auto i = static_cast<std::size_t>(y * (3 * width_ + kPadding) + 3 * x);
    return {bytes_[i], bytes_[i + 1], bytes_[i + 2]};
  }
  int touched() const {
    int count = 0;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) count += at(x, y) == kGray ? 0 : 1;
    return count;
  }
  bool padding_is_untouched() const {
    for (int y = 0; y < height_; ++y)
      for (int i = 0; i < kPadding; ++i)
        if (bytes_[static_cast<std::size_t>(y * (3 * width_ + kPadding) + 3 * width_ + i)] != 90) return false;
    return true;
  }

 private:
  static constexpr int kPadding = 5;
  int width_;
  int height_;
  std::vector<std::uint8_t> bytes_;
};

Result boxes(std::vector<Detection> detections) {
  Result result;
  result.detections = std::move(detections);
  return result;
}

TEST(Draw, ABoxHasItsLinesAndItsTagAbove) {
  Page page(640, 480);

  page.draw(boxes({{{100, 200, 300, 400}, 0, "person", 0.91F}}));

  const Rgb line = page.at(100, 300);
  EXPECT_NE(line, kGray);
  EXPECT_EQ(page.at(299, 300), line);
  EXPECT_EQ(page.at(200, 399), line);
  EXPECT_EQ(page.at(101, 190), line);   // the tag is filled with the box's colour
  EXPECT_EQ(page.at(200, 300), kGray);  // the inside stays
  EXPECT_EQ(page.at(99, 300), kGray);   // and the outside
  EXPECT_EQ(page.at(300, 300), kGray);
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, TagsHaveLettersOnThem) {
  Page empty(640, 480);
  Page full(640, 480);

  empty.draw(boxes({{{100, 200, 300, 400}, 0, " ", 0.91F}}));
  full.draw(boxes({{{100, 200, 300, 400}, 0, "person", 0.91F}}));

  int light = 0;
  for (int y = 180; y < 200; ++y)
    for (int x = 100; x < 200; ++x) light += full.at(x, y) == Rgb{255, 255, 255} || full.at(x, y) == Rgb{0, 0, 0};
  EXPECT_GT(light, 20);
  EXPECT_GT(full.touched(), empty.touched());  // a longer name makes a longer tag
}

TEST(Draw, ATagAtTheUpperEdgeLiesInsideTheBox) {
  Page page(640, 480);

  page.draw(boxes({{{100, 0, 300, 400}, 3, "car", 0.5F}}));

  EXPECT_EQ(page.at(101, 8), page.at(100, 300));
}

TEST(Draw, ClassesHaveColoursOfTheirOwn) {
  Page page(640, 480);

  page.draw(
      boxes({{{50, 100, 150, 200}, 0, "a", 1}, {{250, 100, 350, 200}, 1, "b", 1}, {{450, 100, 550, 200}, 0, "c", 1}}));

  EXPECT_NE(page.at(50, 150), page.at(250, 150));
  EXPECT_EQ(page.at(50, 150), page.at(450, 150));
}

TEST(Draw, BoxesOutsideAreCutAndUnusableOnesLeftOut) {
  Page page(64, 48);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();

  page.draw(boxes(
      {{{kNaN, 1, 20, 20}, 0, "nan", 1}, {{30, 30, 10, 10}, 0, "backwards", 1}, {{70, 50, 90, 60}, 0, "far", 1}}));
  EXPECT_EQ(page.touched(), 0);

  page.draw(boxes({{{-kInfinity, -1e30F, kInfinity, 1e30F}, -7, "everything", 1}}));
  EXPECT_NE(page.at(63, 47), kGray);
  EXPECT_EQ(page.at(32, 40), kGray);
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, NamesThatAreNotTextDoNoHarm) {
  Page page(640, 480);
  const std::string endless(20'000, 'x');

  page.draw(boxes({{{100, 200, 300, 400}, 0, "\xFF\xFE", 1},
                   {{10, 300, 60, 400}, 1, endless, 1},
                   {{400, 200, 500, 400}, 2, "", 1}}));

  EXPECT_NE(page.at(101, 190), kGray);
  EXPECT_NE(page.at(401, 190), kGray);  // "class 2 1.00"
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, ClassesAreListedInTheCorner) {
  Page page(640, 480);
  Result result;
  result.classes = {{1, "golden retriever", 0.83F}, {2, "tennis ball", 0.11F}};

  page.draw(result);

  EXPECT_NE(page.at(10, 10), kGray);
  EXPECT_NE(page.at(10, 20), kGray);
  EXPECT_EQ(page.at(10, 40), kGray);  // two rows and no more
  EXPECT_EQ(page.at(600, 10), kGray);
}

TEST(Draw, TinyPicturesAreNoProblem) {
  Page page(1, 1);

  page.draw(boxes({{{0, 0, 1, 1}, 0, "person", 0.9F}}));

  EXPECT_NE(page.at(0, 0), kGray);
}

}  // namespace
}  // namespace saccade
