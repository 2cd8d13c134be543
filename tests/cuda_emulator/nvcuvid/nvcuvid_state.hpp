#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
}

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "nvdec/nvcuvid_api.hpp"

// State of the emulated NVDEC: FFmpeg decodes, and the parser calls back as NVIDIA's does.
namespace saccade::emulator {

using namespace cuda;

struct FreeFrame {
  void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
};
using FrameOwner = std::unique_ptr<AVFrame, FreeFrame>;

/// An image between parser and decoder.
struct Image {
  FrameOwner frame;  ///< once it is to be shown
};

/// cuvidCreateDecoder()'s object.
struct Decoder {
  CUVIDDECODECREATEINFO info{};
  std::map<int, std::shared_ptr<Image>> images;  ///< by index
  CUdeviceptr memory = 0;                        ///< of the output surfaces
  unsigned pitch = 0;
  std::vector<bool> mapped;  ///< of the output surfaces
};

/// cuvidCreateVideoParser()'s object.
class Parser {
 public:
  explicit Parser(const CUVIDPARSERPARAMS& parameters);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  CUresult parse(const CUVIDSOURCEDATAPACKET& packet);

 private:
  struct Waiting {
    long long timestamp = 0;
    int index = 0;
    std::shared_ptr<Image> image;
  };

  bool drain();
  bool take(const CUVIDSOURCEDATAPACKET& packet);
  std::vector<FrameOwner> receive();
  bool begin_sequence(const AVFrame* first);
  bool decode(long long timestamp);
  bool show(std::vector<FrameOwner> frames);
  bool show_until(std::size_t left);
  bool is_in_use(int index) const;

  CUVIDPARSERPARAMS parameters_;
  AVCodecContext* codec_ = nullptr;
  std::vector<std::uint8_t> pending_;   ///< data before the next image
  std::vector<std::uint8_t> sequence_;  ///< its parameter set
  CUVIDEOFORMAT format_{};
  int surfaces_ = 0;
  int next_index_ = 0;
  std::map<long long, Waiting> decoded_;  ///< not shown, by timestamp
  std::deque<Waiting> shown_;             ///< in their order, to be displayed
};

/// A symbol of the emulated libcuda.so.1.
void* driver_symbol(const char* name);

}  // namespace saccade::emulator
