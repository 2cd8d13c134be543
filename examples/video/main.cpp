// Prints what a model sees in a video: video yolov8n.onnx video.mp4
#include <saccade/saccade.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: video MODEL.onnx VIDEO") < 0 ? 1 : 2;
  auto source = saccade::Source::open(argv[2]);
  for (auto& result : saccade::Pipeline(source, saccade::Model::load(argv[1])))
    for (const auto& found : result.detections)
      std::printf("frame %lld: %.*s %.2f\n", static_cast<long long>(result.frame),
                  static_cast<int>(found.class_name.size()), found.class_name.data(), found.confidence);
}
