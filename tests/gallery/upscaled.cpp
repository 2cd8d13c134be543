#include "upscaled.hpp"

#include <algorithm>
#include <vector>

#include "media/frame_reader.hpp"
#include "ops/interpreter/interpret.hpp"
#include "scene/scene.hpp"
#include "support/frame_tensor.hpp"
#include "support/graph_builder.hpp"
#include "vision/result_reader.hpp"

namespace saccade {
namespace {

constexpr int kWidth = 160;
constexpr int kHeight = 180;
constexpr int kTimes = 3;

/// Bicubic interpolation as a network of one node.
Graph network() {
  test::GraphBuilder b;
  const ValueId image = b.input("image", {1, 3, kHeight, kWidth});
  const ValueId scales = b.floats({4}, {1, 1, kTimes, kTimes});
  return b.build({b.op("Resize", {image, ValueId::kNone, scales}, {{"mode", std::string("cubic")}})});
}

/// FROM's pixels as squares of SIDE x SIDE, starting at column LEFT.
void put(const FrameView& from, int side, const RgbView& to, int left) {
  for (int y = 0; y < side * from.height; ++y)
    for (int x = 0; x < side * from.width; ++x)
      std::copy_n(from.planes[0] + y / side * from.pitch_bytes[0] + 3 * (x / side), 3,
                  to.data + y * to.pitch_bytes + 3 * (left + x));
}

}  // namespace

void draw_upscaled(const std::string& file) {
  constexpr std::int64_t kFrame = 900;
  Scene scene({.seed = 13, .width = kWidth, .height = kHeight, .objects = 40, .place = 1, .night = 0.0F, .blur = 0.0F});
  std::vector<std::uint8_t> pixels(std::size_t{3} * kWidth * kHeight);
  const RgbView frame{pixels.data(), 3 * kWidth, kWidth, kHeight};
  scene.render(kFrame, frame);

  Graph model = network();
  const Card card = card_for(model, {});
  const Attached attached = attach(std::move(model), card, {});
  std::vector<Tensor> outputs = interpret(attached.graph, {{"frame", test::frame_tensor(view_of(frame))}});
  std::vector<TensorView> views;
  for (Tensor& output : outputs) views.push_back(view_of(output));
  ResultReader reader(card, attached.outputs, {});
  Result result;
  reader.prepare(result);
  reader.read(views, kWidth, kHeight, result);

  std::vector<std::uint8_t> both(std::size_t{2} * kTimes * kTimes * pixels.size());
  const RgbView page{both.data(), 2 * kTimes * frame.pitch_bytes, 2 * kTimes * kWidth, kTimes * kHeight};
  put(view_of(frame), kTimes, page, 0);
  put(result.image, 1, page, kTimes * kWidth);
  write_image(file, view_of(page));
}

}  // namespace saccade
