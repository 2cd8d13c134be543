#include "base/error.hpp"
#include "family_models.hpp"

// The reading of CTC's columns.
namespace saccade::test {
namespace {

/// Probabilities of four classes per column; that of BEST is SCORE.
Tensor columns_of(const std::vector<int>& best, float score = 0.9F) {
  Tensor scores = filled({1, static_cast<std::int64_t>(best.size()), 4}, (1 - score) / 3);
  for (std::size_t i = 0; i < best.size(); ++i) at(scores, {0, static_cast<std::int64_t>(i), best[i]}) = score;
  return scores;
}

Graph line_of(const Tensor& scores) {
  FamilyModel model({1, 3, 48, 64});
  return model
      .gives("text", model.builder().op("Softmax", {model.constant([&] {
                                          Tensor logits = filled(scores.shape(), 0);
                                          for (std::size_t i = 0; i < logits.data<float>().size(); ++i)
                                            logits.data<float>()[i] = std::log(scores.data<float>()[i]);
                                          return logits;
                                        }())},
                                        {{"axis", std::int64_t{2}}}))
      .build();
}

constexpr const char* kLineCard = "[output]\ndecoder = \"ctc\"\ncharacters = [\"a\", \"\xc3\xa9\"]\n";

TEST(TextRecognition, MergesRepetitionsAndDropsBlanks) {
  const std::vector<std::pair<std::vector<int>, std::string>> lines = {{{1, 2, 1},
                                                                        "a\xc3\xa9"
                                                                        "a"},
                                                                       {{1, 1, 1, 2}, "a\xc3\xa9"},
                                                                       {{1, 0, 1}, "aa"},
                                                                       {{0, 0, 2, 2, 0}, "\xc3\xa9"},
                                                                       {{1, 3, 3, 2}, "a \xc3\xa9"},
                                                                       {{2}, "\xc3\xa9"},
                                                                       {{1, 0, 0, 1, 1, 0, 1}, "aaa"}};
  for (const auto& [best, text] : lines) {
    const Found found = find_in(line_of(columns_of(best)), kLineCard);
    EXPECT_EQ(found.card.task(), Task::kText);
    EXPECT_FALSE(found.card.head().softmax);
    EXPECT_EQ(found.text, text);
    EXPECT_NEAR(found.result.text_confidence, 0.9F, 1e-5F);
    EXPECT_FALSE(found.result.invalid());
  }
}

TEST(TextRecognition, NothingButBlanksIsNoText) {
  const Found found = find_in(line_of(columns_of({0, 0, 0})), kLineCard);
  EXPECT_EQ(found.text, "");
  EXPECT_EQ(found.result.text_confidence, 0);
  EXPECT_FALSE(found.result.invalid());
}

TEST(TextRecognition, TheFirstOfEqualClassesWins) {
  Tensor scores = filled({1, 1, 4}, 0.1F);
  at(scores, {0, 0, 1}) = at(scores, {0, 0, 2}) = 0.4F;
  EXPECT_EQ(find_in(line_of(scores), kLineCard).text, "a");
  at(scores, {0, 0, 0}) = 0.4F;
  EXPECT_EQ(find_in(line_of(scores), kLineCard).text, "");
}

TEST(TextRecognition, TheConfidenceIsTheMeanOfTheKeptColumns) {
  Tensor scores = columns_of({1, 1, 0, 2});
  at(scores, {0, 1, 1}) = 0.7F;  // a repetition, which is dropped
  at(scores, {0, 3, 2}) = 0.5F;
  const Found found =
      find_in(FamilyModel({1, 3, 48, 64}).gives("text", scores).build(), std::string(kLineCard) + "softmax = false\n");
  EXPECT_EQ(found.text, "a\xc3\xa9");
  EXPECT_NEAR(found.result.text_confidence, 0.7F, 1e-6F);
}

TEST(TextRecognition, LogitsGetASoftmax) {
  Tensor logits = filled({1, 2, 4}, 0);
  at(logits, {0, 0, 1}) = 3;
  at(logits, {0, 1, 3}) = 2;
  const Found found = find_in(FamilyModel({1, 3, 48, 64}).gives("text", logits).build(), kLineCard);
  EXPECT_TRUE(found.card.head().softmax);
  EXPECT_EQ(found.text, "a ");
  EXPECT_NEAR(found.result.text_confidence,
              (std::exp(3.0F) / (std::exp(3.0F) + 3) + std::exp(2.0F) / (std::exp(2.0F) + 3)) / 2, 1e-5F);
}

TEST(TextRecognition, ANanLeavesTheLineUnknown) {
  Tensor scores = columns_of({1, 2});
  at(scores, {0, 1, 0}) = NAN;
  const Found found =
      find_in(FamilyModel({1, 3, 48, 64}).gives("text", scores).build(), std::string(kLineCard) + "softmax = false\n");
  EXPECT_EQ(found.text, "");
  EXPECT_EQ(found.result.text_confidence, 0);
  EXPECT_TRUE(found.result.faults.has(Fault::kNanConfidence));
}

TEST(TextRecognition, TheListOfCharactersIsOfTheModelsClasses) {
  const TempFolder folder;
  const Graph model = line_of(columns_of({1, 2, 3}));
  const auto card = [&](const std::string& characters) {
    return card_for(model, {}, folder.write("card.toml", "[output]\ndecoder = \"ctc\"\n" + characters));
  };
  folder.write("keys.txt", "a\nb\n");
  EXPECT_EQ(card("characters = \"keys.txt\"\n").head().characters, (std::vector<std::string>{"a", "b", " "}));
  EXPECT_EQ(card("characters = [\"a\", \"b\", \"c\"]\n").head().characters, (std::vector<std::string>{"a", "b", "c"}));
  for (const auto& [wrong, count] : {std::pair{"characters = [\"a\"]\n", "has 1 characters"},
                                     {"characters = [\"a\", \"b\", \"c\", \"d\"]\n", "has 4 characters"}}) {
    std::string text;
    try {
      card(wrong);
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("4 classes: it needs 3, or 2"), std::string::npos) << text;
    EXPECT_NE(text.find(count), std::string::npos) << text;
  }
  EXPECT_THROW(card(""), Error);
  EXPECT_THROW(card("characters = \"../keys.txt\"\n"), Error);
  const Card whole = card("characters = \"keys.txt\"\n");
  EXPECT_EQ(to_toml(card_for(model, {}, folder.write("again.toml", to_toml(whole)))), to_toml(whole));
}

TEST(TextRecognition, IsKnownByTheCharactersInTheMetadata) {
  Graph model = line_of(columns_of({2, 1, 3}));
  EXPECT_EQ(recognised(model), "");
  model.metadata["character"] = "x\nyz";
  EXPECT_EQ(recognised(model), "ctc");
  const Found found = find_in(model);
  EXPECT_EQ(found.text, "yzx ");
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
  model.metadata["character"] = "x\ny\nz\nw";
  EXPECT_EQ(recognised(model), "");
}

}  // namespace
}  // namespace saccade::test
