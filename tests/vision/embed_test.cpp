#include <algorithm>

#include "family_models.hpp"

// What tells an embedding from the scores of classes.
namespace saccade::test {
namespace {

/// A vector [1, 4], divided by its norm as torch.nn.functional.normalize is exported, or by its largest element.
Graph divided_by(const std::string& reduction) {
  FamilyModel model(kInputShape);
  GraphBuilder& b = model.builder();
  const ValueId vector = model.constant(Tensor::of<float>({1, 4}, {1, -2, 4, 2}));
  const ValueId norm =
      b.op(reduction, {vector}, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{1}}});
  const ValueId bounded = b.op("Expand", {b.op("Clip", {norm, b.scalar(1e-12F)}), b.ints({1, 4})});
  return model.gives("output", b.op("Div", {vector, bounded})).build();
}

TEST(Embedding, IsKnownByItsNorm) {
  EXPECT_EQ(recognised(divided_by("ReduceL2")), "embed");
  EXPECT_EQ(recognised(divided_by("ReduceMax")), "classify");
}

TEST(Embedding, IsAssumedNotToBeAClassifier) {
  const auto assumptions = [](const std::string& name, std::int64_t width, const std::string& op) {
    return card_for(FamilyModel(kInputShape).gives(name, filled({1, width}, 1), op).build(), {}).assumptions;
  };
  const auto warns = [](const std::vector<std::string>& texts) {
    return std::ranges::any_of(texts, [](const std::string& text) { return text.find("embed") != std::string::npos; });
  };
  EXPECT_TRUE(warns(assumptions("output", 512, "Identity")));
  EXPECT_FALSE(warns(assumptions("output", 512, "Softmax")));
  EXPECT_FALSE(warns(assumptions("output", 1000, "Identity")));
}

TEST(Embedding, IsReadUnderACard) {
  const Graph model = FamilyModel({1, 3, 112, 112}, "input.1").gives("683", filled({1, 512}, 3)).build();
  EXPECT_EQ(recognised(model), "classify");
  const TempFolder folder;
  const Card card = card_for(model, {},
                             folder.write("card.toml",
                                          "task = \"embed\"\n[input]\nscale = 1\nmean = 127.5\nstd = "
                                          "127.5\n[output]\ndecoder = \"embed\"\nnormalize = false\n"));
  EXPECT_EQ(card.task(), Task::kEmbed);
  EXPECT_FALSE(card.head().normalize);
  EXPECT_EQ(card.resize, ResizeMode::kStretch);
  // It is printed, and read again.
  const Card again = card_for(model, {}, folder.write("again.toml", to_toml(card)));
  EXPECT_FALSE(again.head().normalize);
  EXPECT_EQ(to_toml(again), to_toml(card));
}

}  // namespace
}  // namespace saccade::test
