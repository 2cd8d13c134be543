#include "vision/labels/known_labels.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace saccade::test {
namespace {

/// The labels of CLASSES classes of DECODER; empty: none are known.
std::vector<std::string> labels_of(std::string_view decoder, int classes) {
  const Head head{.decoder = find_decoder(decoder), .classes = classes};
  const auto known = known_labels(head);
  return known ? known->labels : std::vector<std::string>{};
}

TEST(KnownLabels, AreThoseOfTheDataSetWithThatManyClasses) {
  struct Case {
    std::string_view decoder;
    int classes;
    std::map<std::size_t, std::string> names;
  };
  const Case cases[] = {
      {"classify",
       1000,
       {{0, "tench"}, {207, "golden retriever"}, {281, "tabby"}, {654, "minibus"}, {999, "toilet tissue"}}},
      {"classify", 1001, {{0, "background"}, {1, "tench"}, {1000, "toilet tissue"}}},
      {"semantic", 19, {{0, "road"}, {13, "car"}, {18, "bicycle"}}},
      {"semantic", 21, {{0, "background"}, {15, "person"}, {20, "tvmonitor"}}},
      {"semantic", 150, {{0, "wall"}, {12, "person"}, {149, "flag"}}},
      {"yolov8", 20, {{0, "aeroplane"}, {14, "person"}, {19, "tvmonitor"}}},
      {"yolov8", 80, {{0, "person"}, {79, "toothbrush"}}},
      {"yolov8-seg", 80, {{5, "bus"}}},
      {"yolov8", 601, {{0, "Accordion"}, {381, "Person"}, {600, "Zucchini"}}},
      {"yolov8-obb", 15, {{0, "plane"}, {14, "swimming pool"}}},
      {"yolo-e2e-obb", 16, {{15, "container crane"}}},
  };
  for (const Case& each : cases) {
    const auto labels = labels_of(each.decoder, each.classes);
    ASSERT_EQ(labels.size(), static_cast<std::size_t>(each.classes)) << each.decoder;
    for (const auto& [id, name] : each.names) EXPECT_EQ(labels[id], name);
    const std::set<std::string> distinct(labels.begin(), labels.end());
    EXPECT_EQ(distinct.size(), labels.size()) << "a name occurs twice";
    for (const std::string& label : labels) EXPECT_FALSE(label.empty() || label.front() == ' ' || label.back() == ' ');
  }
}

TEST(KnownLabels, AreNotGuessedForOtherNumbersAndTasks) {
  EXPECT_TRUE(labels_of("classify", 80).empty());
  EXPECT_TRUE(labels_of("classify", 20).empty());
  EXPECT_TRUE(labels_of("semantic", 1000).empty());
  EXPECT_TRUE(labels_of("yolov8", 15).empty());
  EXPECT_TRUE(labels_of("yolov5", 601).empty());
  EXPECT_TRUE(labels_of("yolov8", 7).empty());
}

}  // namespace
}  // namespace saccade::test
