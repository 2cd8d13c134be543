#include <gmock/gmock.h>

#include "card_models.hpp"
#include "vision/cards/card_file.hpp"

// [second] of a card.
namespace saccade::test {
namespace {

using testing::HasSubstr;

class SecondCard : public CardFiles {
 protected:
  SecondCard() { folder_.write("osnet.onnx", ""); }
  static Graph detector() { return model({1, 3, 640, 640}, {1, 84, 8400}); }
  static std::string second(const std::string& keys) { return "[second]\nmodel = \"osnet.onnx\"\n" + keys; }
};

TEST_F(SecondCard, HasDefaults) {
  const Card card = load(detector(), second(""));
  ASSERT_TRUE(card.second);
  EXPECT_EQ(card.second->model, "osnet.onnx");
  EXPECT_EQ(card.second->path, folder_ / "osnet.onnx");
  EXPECT_TRUE(card.second->class_ids.empty());
  EXPECT_EQ(card.second->margin, 0);
  EXPECT_EQ(card.second->most, 16);
  EXPECT_EQ(card.second->align, CropAlign::kBox);
}

TEST_F(SecondCard, IsPrintedAndReadAgain) {
  const Card card =
      load(detector(),
           second("shape = [1, 3, 48, 320]\nclasses = [\"bus\", \"0\"]\nmargin = 0.25\nmost = 3\nalign = \"box\"\n"));
  EXPECT_EQ(card.second->shape, (std::vector{1, 3, 48, 320}));
  EXPECT_EQ(card.second->class_ids, (std::vector{5, 0}));
  EXPECT_EQ(card.second->margin, 0.25F);
  EXPECT_EQ(card.second->most, 3);
  const Card again = load(detector(), to_toml(card));
  EXPECT_EQ(to_toml(again), to_toml(card));
  EXPECT_THAT(to_toml(card),
              HasSubstr("[second]\nmodel = \"osnet.onnx\"\nshape = [1, 3, 48, 320]\nclasses = [\"bus\", \"0\"]\n"));
}

TEST_F(SecondCard, RefusesInvalidValuesWithTheirLine) {
  const auto refusal = [&](const std::string& keys) { return rejection(detector(), second(keys)); };
  EXPECT_THAT(refusal("margin = 2\n"), HasSubstr("card.toml:3: 'second.margin' must be a number in 0..1"));
  EXPECT_THAT(refusal("margin = \"x\"\n"), HasSubstr("card.toml:3: 'second.margin' must be a number"));
  EXPECT_THAT(refusal("shape = [0]\n"), HasSubstr("card.toml:3: 'second.shape' must be a list of integers in 1.."));
  EXPECT_THAT(refusal("most = 0\n"), HasSubstr("card.toml:3: 'second.most' must be an integer in 1..1000"));
  EXPECT_THAT(refusal("align = \"face\"\n"),
              HasSubstr("card.toml:3: 'second.align' must be one of box, five-points; it is 'face'"));
  EXPECT_THAT(refusal("classes = 3\n"), HasSubstr("card.toml:3: 'second.classes' must be a list of strings"));
  EXPECT_THAT(refusal("classes = [\"unicorn\"]\n"),
              HasSubstr("card.toml:3: 'second.classes' is invalid: the model has no class 'unicorn'"));
  EXPECT_THAT(refusal("align = \"five-points\"\n"),
              HasSubstr("card.toml:3: 'second.align' is five-points, but the model predicts 0 keypoints"));
  EXPECT_THAT(
      rejection(model({1, 3, 640, 640}, {1, 300, 16}), "[output]\ndecoder = \"yolo-e2e-pose\"\nkeypoints = 5\n" +
                                                           second("margin = 0.1\nalign = \"five-points\"\n")),
      HasSubstr("card.toml:6: 'second.margin' has no effect with align = \"five-points\""));
  EXPECT_THAT(refusal("file = \"x\"\n"), HasSubstr("card.toml:3: 'second.file' is not a key of a card"));
  EXPECT_THAT(rejection(detector(), "second = 3\n"), HasSubstr("'second' must be a table: [second]"));
}

TEST_F(SecondCard, NeedsAFileInItsFolder) {
  const auto refusal = [&](const std::string& text) { return rejection(detector(), text); };
  EXPECT_THAT(refusal("[second]\nmost = 3\n"), HasSubstr("[second] needs 'second.model'"));
  EXPECT_THAT(refusal("[second]\nmodel = \"../osnet.onnx\"\n"), HasSubstr("is outside of it and refused"));
  EXPECT_THAT(refusal("[second]\nmodel = \"/osnet.onnx\"\n"), HasSubstr("is outside of it and refused"));
  EXPECT_THAT(refusal("[second]\nmodel = \"\"\n"), HasSubstr("the name of a file"));
  EXPECT_THAT(refusal("[second]\nmodel = \"none.onnx\"\n"),
              HasSubstr("card.toml:2: 'second.model' names " + (folder_ / "none.onnx") + ", which does not exist"));
}

TEST_F(SecondCard, NeedsObjects) {
  EXPECT_THAT(rejection(model({1, 3, 224, 224}, {1, 1000}), second("")),
              HasSubstr("card.toml:2: 'second.model' needs objects to run on, but the model's task is classify"));
}

}  // namespace
}  // namespace saccade::test
