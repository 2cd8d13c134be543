// Frames and masks as pixels, and results that outlive the pipeline: pixels MODEL.onnx SOURCE
#include <saccade/saccade.hpp>

#include <cstdio>
#include <utility>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("usage: pixels MODEL.onnx SOURCE") < 0 ? 1 : 2;
  std::vector<saccade::Result> kept;
  {
    saccade::Pipeline pipeline(saccade::Source::open(argv[2]), saccade::Model::load(argv[1]));
    for (const auto& result : pipeline) {
      // For OpenCV: cv::Mat(image.height(), image.width(), CV_8UC3, image.samples().data())
      const saccade::Image image = saccade::convert(pipeline.frame(), saccade::PixelFormat::kBgr24);
      std::printf("frame %lld: %dx%d pixels of %.*s\n", static_cast<long long>(result.frame), image.width(),
                  image.height(), static_cast<int>(to_string(image.format()).size()), to_string(image.format()).data());
      kept.push_back(result.clone());
    }
  }
  // Pipeline and model are gone. The clones own their names, masks and keypoints.
  for (const auto& result : kept)
    for (const auto& found : result.detections) {
      if (!found.mask) continue;
      const saccade::Image bitmap = saccade::to_bitmap(*found.mask, result.width, result.height);
      long long inside = 0;
      for (const auto sample : std::as_const(bitmap).samples()) inside += sample != 0;
      std::size_t holes = 0;
      const std::vector<saccade::Polygon> polygons = saccade::to_polygons(*found.mask);
      for (const auto& polygon : polygons) holes += polygon.holes.size();
      std::printf("frame %lld: mask of %.*s: %lld pixels, %zu polygons with %zu holes\n",
                  static_cast<long long>(result.frame), static_cast<int>(found.class_name.size()),
                  found.class_name.data(), inside, polygons.size(), holes);
    }
}
