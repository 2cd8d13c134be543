#pragma once

// Block sizes and work per block of the kernels whose launch does not depend on a layer's shape, for the host that
// launches them and for the kernels. The host's compiler and NVRTC both read this: no standard library.
namespace saccade::cuda {

// transfer.cuh
constexpr int kTransferThreads = 256;
constexpr int kTransferLoads = 4;  ///< in flight per thread, to cover the latency of the bus

// pixels.cuh
constexpr int kTileWidth = 32;
constexpr int kTileHeight = 8;

// rows.cuh
constexpr int kMaxRowRegisters = 32;  ///< elements of a row that a thread holds

// candidates.cuh
constexpr int kMarkThreads = 256;
constexpr int kCompactThreads = 256;
constexpr int kSelectThreads = 1024;

// selection.cuh
constexpr int kRankThreads = 256;
constexpr int kRankSharers = 4;  ///< threads per candidate
constexpr int kRanked = kRankThreads / kRankSharers;
constexpr int kWindow = 1024;
constexpr int kSpan = 2048;
constexpr int kOverlapThreads = 256;

// queries.cuh
constexpr int kQueryThreads = 1024;

// masks.cuh
constexpr int kMaskThreads = 256;
constexpr int kMaskBlocks = 4;   ///< per object
constexpr int kMaskNumbers = 3;  ///< of a block: int32s

// top_classes.cuh
constexpr int kClassThreads = 1024;

// rates.cuh: independent chains of a thread
constexpr int kMmaChains = 8;
constexpr int kFmaChains = 16;

}  // namespace saccade::cuda
