#include "media/modules.hpp"
#include "nvdec/capabilities.hpp"
#include "nvdec/decoder.hpp"
#include "nvdec/elementary_reader.hpp"

namespace saccade {
namespace {

constexpr NvdecModule kModule = {nvdec::refusal, nvdec::open_decoder, nvdec::open_elementary};

}  // namespace
}  // namespace saccade

extern "C" const saccade::NvdecModule* saccade_module_nvdec() { return &saccade::kModule; }
