// Runs the bundled model, with a second model on its objects, on the synthetic scene and counts allocations between
// source and result after the warm-up:
//   steady_state_second MODEL CARD
#include <filesystem>

#include "saccade/saccade.hpp"
#include "steady_state/count_frames.hpp"
#include "support/temp_folder.hpp"
#include "support/tiny_models.hpp"

namespace {

int measure(const char* model, const char* card) {
  const saccade::test::TempFolder folder;
  std::filesystem::copy(model, folder / "scene.onnx");
  folder.write("scene.toml", saccade::test::bytes_of_file(card) + "\n[second]\nmodel = \"color.onnx\"\nmargin = 0.1\n");
  saccade::test::write_color_classifier(folder);
  saccade::Pipeline pipeline(saccade::Source::open("synthetic:?seed=4&fps=5"),
                             saccade::Model::load(folder / "scene.onnx", {.device = saccade::Device::cpu()}));
  const auto sink = saccade::open_jsonl("/dev/null");
  int crops = 0;
  const auto take = [&](int wanted) {
    for (int i = 0; i < wanted; ++i) {
      const auto result = pipeline.next();
      if (!result) return false;
      sink->write(*result, pipeline.frame());
      for (const saccade::Detection& object : result->detections) crops += object.classes.empty() ? 0 : 1;
    }
    return crops > 0;
  };
  return saccade::test::count_frames(take, 60);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::puts("usage: steady_state_second MODEL CARD") < 0 ? 1 : 2;
  try {
    return measure(argv[1], argv[2]);
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
