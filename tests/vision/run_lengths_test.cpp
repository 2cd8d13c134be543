#include "vision/run_lengths.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "saccade/error.hpp"

namespace saccade {

static bool operator==(const MaskRun& a, const MaskRun& b) { return a.y == b.y && a.x1 == b.x1 && a.x2 == b.x2; }
static void PrintTo(const MaskRun& run, std::ostream* out) { *out << run.y << ':' << run.x1 << '-' << run.x2; }

namespace {

using Counts = std::vector<std::uint32_t>;
using Runs = std::vector<MaskRun>;

template <typename T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Mask decode(RunLengths& lengths, std::initializer_list<std::int64_t> counts, int width, int height) {
  return lengths.decode(std::span<const std::int64_t>(counts.begin(), counts.size()), width, height);
}

std::string refusal(std::initializer_list<std::int64_t> counts, int width, int height) {
  RunLengths lengths;
  try {
    decode(lengths, counts, width, height);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    return error.what();
  }
  return "not refused";
}

std::string refusal(std::string_view text, int width, int height) {
  RunLengths lengths;
  try {
    lengths.decode(text, width, height);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
    return error.what();
  }
  return "not refused";
}

TEST(RunLengths, CountDownTheColumnsOutsideFirst) {
  // .##
  // .#.
  RunLengths lengths;
  const Runs runs = {{0, 1, 3}, {1, 1, 2}};

  EXPECT_EQ(copy(lengths.encode(runs, 3, 2)), Counts({2, 3, 1}));
  const Mask mask = decode(lengths, {2, 3, 1}, 3, 2);

  EXPECT_EQ(copy(mask.runs), runs);
  EXPECT_EQ(mask.area, 3);
}

TEST(RunLengths, OfNothingAndOfAllAreOneAndTwoNumbers) {
  RunLengths lengths;
  const Runs all = {{0, 0, 4}, {1, 0, 4}, {2, 0, 4}};

  EXPECT_EQ(copy(lengths.encode({}, 4, 3)), Counts({12}));
  EXPECT_EQ(copy(lengths.encode(all, 4, 3)), Counts({0, 12}));
  EXPECT_TRUE(decode(lengths, {12}, 4, 3).runs.empty());
  EXPECT_EQ(copy(decode(lengths, {0, 12}, 4, 3).runs), all);
}

TEST(RunLengths, ClipAtTheImagesBorder) {
  RunLengths lengths;
  const Runs beyond = {{-2, 0, 2}, {0, -5, 1}, {1, 1, 9}, {2, 0, 2}, {7, 0, 2}};

  EXPECT_EQ(copy(lengths.encode(beyond, 2, 2)), Counts({0, 1, 2, 1}));
}

TEST(RunLengths, TakeRunsOfNoPixels) {
  // As written by hand or by other tools: 2 outside, 0 inside, 1 outside, 3 inside that continue after 0 outside.
  RunLengths lengths;

  const Mask mask = decode(lengths, {2, 0, 1, 2, 0, 1, 0}, 3, 2);

  EXPECT_EQ(copy(mask.runs), Runs({{0, 2, 3}, {1, 1, 3}}));
  EXPECT_EQ(mask.area, 3);
}

TEST(RunLengths, EqualPycocotools) {
  std::ifstream file(SACCADE_SOURCE "/tests/vision/run_lengths_cases.txt");
  std::string line;
  std::getline(file, line);
  RunLengths lengths;
  int cases = 0;
  for (; std::getline(file, line); ++cases) {
    SCOPED_TRACE(line.substr(0, 100));
    std::istringstream words(line);
    int width = 0;
    int height = 0;
    std::string text;
    std::size_t size = 0;
    words >> width >> height >> text >> size;
    Counts counts(size);
    for (std::uint32_t& count : counts) words >> count;
    words >> size;
    Runs runs(size);
    std::int64_t area = 0;
    for (MaskRun& run : runs) {
      words >> run.y >> run.x1 >> run.x2;
      area += run.x2 - run.x1;
    }
    ASSERT_TRUE(words);

    EXPECT_EQ(copy(lengths.encode(runs, width, height)), counts);
    EXPECT_EQ(lengths.encode_text(runs, width, height), text);
    const Mask mask = lengths.decode(text, width, height);
    EXPECT_EQ(copy(mask.runs), runs);
    EXPECT_EQ(mask.area, area);
    const std::vector<std::int64_t> wide(counts.begin(), counts.end());
    EXPECT_EQ(copy(lengths.decode(wide, width, height).runs), runs);
  }
  EXPECT_EQ(cases, 37);
}

TEST(RunLengths, OfRandomMasksReadBack) {
  std::mt19937 random(11);
  RunLengths lengths;
  for (int round = 0; round < 2000; ++round) {
    const int width = 1 + static_cast<int>(random() % 40);
    const int height = 1 + static_cast<int>(random() % 40);
    const auto share = static_cast<unsigned>(random() % 11);
    Runs runs;
    std::int64_t area = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        if (random() % 10 >= share) continue;
        ++area;
        if (!runs.empty() && runs.back().y == y && runs.back().x2 == x)
          ++runs.back().x2;
        else
          runs.push_back({y, x, x + 1});
      }

    const Mask mask = lengths.decode(lengths.encode_text(runs, width, height), width, height);

    ASSERT_EQ(copy(mask.runs), runs) << width << 'x' << height;
    ASSERT_EQ(mask.area, area);
  }
}

TEST(RunLengths, ThatCanNotBeAreRefused) {
  EXPECT_EQ(refusal({3, -1, 4}, 3, 2), "the run length 1 of a mask, -1, is negative");
  EXPECT_EQ(refusal({3, 4}, 3, 2), "the run lengths of a mask go beyond its 3x2 pixels");
  EXPECT_EQ(refusal({INT64_MAX, INT64_MAX, 2}, 3, 2), "the run lengths of a mask go beyond its 3x2 pixels");
  EXPECT_EQ(refusal({3, 2}, 3, 2), "the run lengths of a mask add up to 5, not to its 3x2 pixels");
  EXPECT_EQ(refusal({}, 3, 2), "the run lengths of a mask add up to 0, not to its 3x2 pixels");
  EXPECT_NE(refusal({0}, 0, 2).find("a mask of 0x2 pixels can't be read"), std::string::npos);
  EXPECT_NE(refusal({1}, 1 << 30, 1 << 30).find("can't be read"), std::string::npos);
}

TEST(RunLengths, TextThatCanNotBeIsRefused) {
  EXPECT_EQ(refusal("3 2", 3, 2), "a mask's packed run lengths hold the invalid byte 0x20 at 1");
  EXPECT_EQ(refusal("3\xff", 3, 2), "a mask's packed run lengths hold the invalid byte 0xff at 1");
  EXPECT_EQ(refusal("3P", 3, 2), "a mask's packed run lengths end within a number");
  EXPECT_EQ(refusal("oooooooo0", 3, 2), "a mask's packed run lengths hold too long a number at 7");
  EXPECT_EQ(refusal("@", 3, 2), "a mask's packed run lengths hold the invalid count -16");
  EXPECT_EQ(refusal("", 3, 2), "the run lengths of a mask add up to 0, not to its 3x2 pixels");
}

TEST(RunLengths, SurviveAnyText) {
  std::mt19937 random(12);
  RunLengths lengths;
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 12, '0');
    for (char& letter : text) letter = static_cast<char>('0' + random() % (round % 2 == 0 ? 16 : 64));
    try {
      const Mask mask = lengths.decode(text, 5, 4);
      const std::string again(lengths.encode_text(mask.runs, 5, 4));
      const Runs runs = copy(mask.runs);
      ASSERT_EQ(copy(lengths.decode(again, 5, 4).runs), runs) << text;
      ++read;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kInvalidFile);
    }
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace saccade
