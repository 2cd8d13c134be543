#include "vision/labels/labels.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using Names = std::vector<std::string>;

TEST(CocoLabels, AreEightyInTheModelsOrder) {
  EXPECT_EQ(coco_labels().size(), 80U);
  EXPECT_EQ(coco_labels().front(), "person");
  EXPECT_EQ(coco_labels().back(), "toothbrush");
}

TEST(CocoCategory, SkipsTheNumbersThatCocoSkips) {
  EXPECT_EQ(coco_category(0), 1);
  EXPECT_EQ(coco_category(10), 11);  // fire hydrant; 12 is missing
  EXPECT_EQ(coco_category(11), 13);  // stop sign
  EXPECT_EQ(coco_category(79), 90);  // toothbrush
}

TEST(PythonNames, ReadsADictionary) {
  EXPECT_EQ(parse_python_names("{0: 'person', 1: 'traffic light'}"), (Names{"person", "traffic light"}));
}

TEST(PythonNames, ReadsListsQuotesAndEscapes) {
  EXPECT_EQ(parse_python_names(R"(["it's", 'a "b"', 'c\'d', 'e\\f',])"), (Names{"it's", "a \"b\"", "c'd", "e\\f"}));
  EXPECT_EQ(parse_python_names("{'0': \"cat\"}"), (Names{"cat"}));
  EXPECT_EQ(parse_python_names("{}"), Names{});
}

TEST(PythonNames, NumbersClassesThatAreLeftOut) {
  EXPECT_EQ(parse_python_names("{2: 'c', 0: 'a'}"), (Names{"a", "1", "c"}));
}

TEST(PythonNames, RejectsWhatIsNoDictionary) {
  for (const char* text : {"", "person", "{0: person}", "{0: 'a'", "{0 'a'}", "{0: 'a' 1: 'b'}", "{0: 'a'} x",
                           "{-1: 'a'}", "{4000000000: 'a'}", "{99999999: 'a'}", "['a", "{0: '\\q'}"})
    EXPECT_THROW(parse_python_names(text), Error) << text;
}

class LabelFiles : public ::testing::Test {
 protected:
  Names read(const std::string& name, const std::string& text) const { return read_labels(folder_.write(name, text)); }
  std::string why_not(const std::string& name, const std::string& text) const {
    try {
      read(name, text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  test::TempFolder folder_;
};

TEST_F(LabelFiles, HoldOneNameALine) {
  EXPECT_EQ(read("names.txt", "cat\r\n\ntraffic light\n"), (Names{"cat", "traffic light"}));
}

TEST_F(LabelFiles, HoldSynsetsWhoseFirstNameCounts) {
  EXPECT_EQ(read("synset.txt", "n01440764 tench, Tinca tinca\nn01443537 goldfish, Carassius auratus\n"),
            (Names{"tench", "goldfish"}));
  // A single line of another form makes all of them names.
  EXPECT_EQ(read("mixed.txt", "n01440764 tench\nnut\n"), (Names{"n01440764 tench", "nut"}));
}

TEST_F(LabelFiles, HoldUltralyticsMaps) {
  const std::string text = R"(# Ultralytics
path: coco8  # root
train: images/train

names:
  0: person
  1: 'it''s'   # a quote
  3: "traffic #1"

# Download
download: x
)";
  EXPECT_EQ(read("coco8.yaml", text), (Names{"person", "it's", "2", "traffic #1"}));
  EXPECT_EQ(read("flow.yml", "nc: 2\nnames: {0: cat, 1: 'dog, big'}\n"), (Names{"cat", "dog, big"}));
}

TEST_F(LabelFiles, HoldUltralyticsLists) {
  EXPECT_EQ(read("a.yaml", "names:\n- cat\n- dog # small\nnc: 2\n"), (Names{"cat", "dog"}));
  EXPECT_EQ(read("b.yaml", "names:\n  - cat\n  - \"dog\"\n"), (Names{"cat", "dog"}));
  EXPECT_EQ(read("c.yaml", "names: ['cat', \"dog, big\", fox's,\n  cow]  # four\n"),
            (Names{"cat", "dog, big", "fox's", "cow"}));
}

TEST_F(LabelFiles, NameFileAndLineOfWhatIsWrong) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"empty.txt", "\n\n", "empty.txt holds no labels"},
      {"image.txt", std::string("cat\n\0\1", 6), "image.txt:2: this is not text"},
      {"none.yaml", "nc: 3\n", "none.yaml has no key 'names'"},
      {"bare.yaml", "names:\nnc: 3\n", "bare.yaml holds no labels"},
      {"one.yaml", "names: cat\n", "one.yaml:1: 'names' must be a list"},
      {"word.yaml", "names:\n  cat: 0\n", "word.yaml:2: 'names' must be a list"},
      {"less.yaml", "names:\n  -1: cat\n", "less.yaml:2: 'names' must be a list"},
      {"twice.yaml", "names:\n  0: cat\n  0: dog\n", "twice.yaml:3: a class has two names"},
      {"mixed.yaml", "names:\n  - cat\n  1: dog\n", "mixed.yaml:3: a list and a map are mixed"},
      {"open.yaml", "names: [cat,\n  dog\n", "'names' has no end"},
      {"quote.yaml", "names:\n  0: 'cat\n", "quote.yaml:2: a quote is not closed"},
      {"gap.yaml", "names:\n  0:\n", "gap.yaml:2: a name is missing"},
      {"far.yaml", "names:\n  900000000: cat\n", "far.yaml:2: a class ID is too large"},
  };
  for (const auto& [name, text, expected] : cases)
    EXPECT_NE(why_not(name, text).find(expected), std::string::npos) << name << ": " << why_not(name, text);
  EXPECT_THROW(read_labels(folder_ / "missing.txt"), Error);
}

}  // namespace
}  // namespace saccade
