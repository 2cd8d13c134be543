#include "vision/labels.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

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

}  // namespace
}  // namespace saccade
