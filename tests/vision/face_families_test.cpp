#include "family_models.hpp"

// Faces with landmarks: heads encoded from known boxes and points by each family's published formulas.
namespace saccade::test {
namespace {

/// Five distinct points of a face, along its diagonal.
std::array<float, 10> points_of(const Known& face) {
  std::array<float, 10> points{};
  for (std::size_t i = 0; i < 5; ++i) {
    points[2 * i] = face.box[0] + face.width() * (0.1F + 0.2F * static_cast<float>(i));
    points[2 * i + 1] = face.box[1] + face.height() * (0.2F + 0.1F * static_cast<float>(i));
  }
  return points;
}

void expect_points(const Found& found, const std::vector<Known>& faces) {
  ASSERT_EQ(found.keypoints.size(), faces.size());
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const std::array<float, 10> points = points_of(faces[i]);
    ASSERT_EQ(found.keypoints[i].size(), 5U);
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(found.keypoints[i][k].x, 2 * points[2 * k], 0.5);
      EXPECT_NEAR(found.keypoints[i][k].y, 2 * points[2 * k + 1], 0.5);
    }
    EXPECT_EQ(found.detections()[i].class_name, "face");
  }
}

const std::vector<Known> kFaces = {
    {{10, 20, 31, 44}, 0.9F, 0}, {{60, 30, 110, 90}, 0.8F, 0}, {{20, 60, 150, 122.5F}, 0.7F, 0}};
constexpr int kStrides[] = {8, 16, 32};

/// Of 160x128 pixels; face i on level i, in the second of two rows per cell.
FamilyModel scrfd(bool points, bool batch, const std::vector<std::string>& names) {
  FamilyModel model({1, 3, 128, 160}, "input.1");
  std::vector<Tensor> scores, boxes, marks;
  for (std::size_t level = 0; level < 3; ++level) {
    const int stride = kStrides[level];
    const std::int64_t columns = 160 / stride;
    const std::int64_t rows = 2 * columns * (128 / stride);
    const auto shape = [&](std::int64_t numbers) { return batch ? Shape{1, rows, numbers} : Shape{rows, numbers}; };
    Tensor score = filled(shape(1), logit(0.01F));
    Tensor box = filled(shape(4), 1);
    Tensor mark = filled(shape(10), 0);
    const Known& face = kFaces[level];
    const auto column = static_cast<std::int64_t>(face.x()) / stride;
    const auto row = static_cast<std::int64_t>(face.y()) / stride;
    const auto place = static_cast<std::size_t>(2 * (row * columns + column) + 1);
    const auto size = static_cast<float>(stride);
    const float x = static_cast<float>(column) * size;
    const float y = static_cast<float>(row) * size;
    score.data<float>()[place] = logit(face.score);
    const std::array<float, 4> sides = {x - face.box[0], y - face.box[1], face.box[2] - x, face.box[3] - y};
    for (std::size_t i = 0; i < 4; ++i) box.data<float>()[4 * place + i] = sides[i] / size;
    for (std::size_t i = 0; i < 10; ++i)
      mark.data<float>()[10 * place + i] = (points_of(face)[i] - (i % 2 == 0 ? x : y)) / size;
    scores.push_back(score);
    boxes.push_back(box);
    marks.push_back(mark);
  }
  std::size_t name = 0;
  for (const Tensor& tensor : scores) model.gives(names[name++], tensor, "Sigmoid");
  for (const Tensor& tensor : boxes) model.gives(names[name++], tensor);
  for (const Tensor& tensor : marks)
    if (points) model.gives(names[name++], tensor);
  return model;
}

TEST(Scrfd, FindsFacesAndPoints) {
  const Found found =
      find_in(scrfd(true, false, {"448", "471", "494", "451", "474", "497", "454", "477", "500"}).build());
  expect_found(found, "scrfd", kFaces);
  expect_points(found, kFaces);
  EXPECT_EQ(found.card.mean[0], 127.5F);
}

TEST(Scrfd, FindsFacesWithoutPoints) {
  const Found found =
      find_in(scrfd(false, true, {"score_8", "score_16", "score_32", "bbox_8", "bbox_16", "bbox_32"}).build());
  expect_found(found, "scrfd", kFaces);
  ASSERT_FALSE(found.keypoints.empty());
  EXPECT_TRUE(found.keypoints[0].empty());
}

TEST(Yunet, FindsFacesAndPoints) {
  FamilyModel model({1, 3, 128, 160}, "input");
  for (const char* kind : {"cls", "obj", "bbox", "kps"}) {
    for (std::size_t level = 0; level < 3; ++level) {
      const int stride = kStrides[level];
      const auto size = static_cast<float>(stride);
      const std::int64_t columns = 160 / stride;
      const std::int64_t numbers = kind[0] == 'b' ? 4 : kind[0] == 'k' ? 10 : 1;
      Tensor tensor = filled({1, columns * (128 / stride), numbers}, 0);
      const Known& face = kFaces[level];
      const auto column = static_cast<std::int64_t>(face.x()) / stride;
      const auto row = static_cast<std::int64_t>(face.y()) / stride;
      float* cell = &at(tensor, {0, row * columns + column, 0});
      if (kind[0] == 'c') cell[0] = face.score * face.score / 0.95F;
      if (kind[0] == 'o') cell[0] = 0.95F;
      if (kind[0] == 'b') {
        cell[0] = face.x() / size - static_cast<float>(column);
        cell[1] = face.y() / size - static_cast<float>(row);
        cell[2] = std::log(face.width() / size);
        cell[3] = std::log(face.height() / size);
      }
      for (std::size_t i = 0; kind[0] == 'k' && i < 10; ++i)
        cell[i] = points_of(face)[i] / size - static_cast<float>(i % 2 == 0 ? column : row);
      model.gives(std::string(kind) + "_" + std::to_string(stride), tensor);
    }
  }
  const Found found = find_in(model.build());
  expect_found(found, "yunet", kFaces);
  expect_points(found, kFaces);
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
}

TEST(RetinaFace, FindsFacesAndPoints) {
  // The second prior of the face's cell; 130 pixels high: the levels are rounded up.
  const std::int64_t height = 130;
  std::vector<std::array<float, 3>> priors;  // x, y, size
  for (const auto& [stride, small] : {std::pair{8, 16.0F}, {16, 64.0F}, {32, 256.0F}})
    for (std::int64_t row = 0; row < (height + stride - 1) / stride; ++row)
      for (std::int64_t column = 0; column < 160 / stride; ++column)
        for (float size : {small, 2 * small})
          priors.push_back({(static_cast<float>(column) + 0.5F) * static_cast<float>(stride),
                            (static_cast<float>(row) + 0.5F) * static_cast<float>(stride), size});
  const auto rows = static_cast<std::int64_t>(priors.size());
  Tensor boxes = filled({1, rows, 4}, 0);
  Tensor scores = filled({1, rows, 2}, 0);
  Tensor points = filled({1, rows, 10}, 0);
  for (std::int64_t i = 0; i < rows; ++i) at(scores, {0, i, 0}) = 9;
  for (std::size_t f = 0; f < kFaces.size(); ++f) {
    const Known& face = kFaces[f];
    const std::int64_t place = static_cast<std::int64_t>(37 + 211 * f);
    const auto [x, y, size] = priors[static_cast<std::size_t>(place)];
    at(boxes, {0, place, 0}) = (face.x() - x) / size / 0.1F;
    at(boxes, {0, place, 1}) = (face.y() - y) / size / 0.1F;
    at(boxes, {0, place, 2}) = std::log(face.width() / size) / 0.2F;
    at(boxes, {0, place, 3}) = std::log(face.height() / size) / 0.2F;
    at(scores, {0, place, 0}) = std::log(1 - face.score);
    at(scores, {0, place, 1}) = std::log(face.score);
    for (std::int64_t i = 0; i < 10; ++i)
      at(points, {0, place, i}) = (points_of(face)[static_cast<std::size_t>(i)] - (i % 2 == 0 ? x : y)) / size / 0.1F;
  }
  for (const bool softmax : {true, false}) {
    FamilyModel model({1, 3, height, 160}, "input0");
    model.gives("output0", boxes);
    softmax ? model.gives("593", scores, "Softmax") : model.gives("593", scores);
    const Found found = find_in(model.gives("592", points).build());
    expect_found(found, "retinaface", kFaces);
    expect_points(found, kFaces);
    EXPECT_EQ(found.card.mean, (std::array<float, 3>{104, 117, 123}));
  }
}

TEST(UltraFace, FindsFaces) {
  Tensor scores = filled({1, 4420, 2}, 0);
  Tensor boxes = filled({1, 4420, 4}, 0);
  for (std::int64_t i = 0; i < 4420; ++i) at(scores, {0, i, 0}) = 9;
  for (std::size_t f = 0; f < kFaces.size(); ++f) {
    const auto place = static_cast<std::int64_t>(1000 * f + 7);
    at(scores, {0, place, 0}) = std::log(1 - kFaces[f].score);
    at(scores, {0, place, 1}) = std::log(kFaces[f].score);
    for (std::int64_t i = 0; i < 4; ++i)
      at(boxes, {0, place, i}) = kFaces[f].box[static_cast<std::size_t>(i)] / (i % 2 == 0 ? 320.0F : 240.0F);
  }
  const Found found =
      find_in(FamilyModel({1, 3, 240, 320}, "input").gives("scores", scores, "Softmax").gives("boxes", boxes).build());
  expect_found(found, "ultraface", kFaces);
  ASSERT_FALSE(found.detections().empty());
  EXPECT_EQ(found.detections()[0].class_name, "face");
  EXPECT_EQ(found.card.resize, ResizeMode::kStretch);
  EXPECT_EQ(found.card.mean[1], 127);
}

}  // namespace
}  // namespace saccade::test
