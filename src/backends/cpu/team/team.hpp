#pragma once

#include "cpu/team/region.hpp"

// The process's one team of worker threads, shared by oneDNN and our own kernels, and by all threads that run plans.
// Workers run ranks of any open region. An owner runs the ranks of its region that no worker has begun: it never waits
// for a worker that is busy elsewhere or without a processor. Workers start once and sleep while there is no work.
namespace saccade::cpu {

/// Sets the number of ranks of the calling thread's parallel regions, which includes the thread itself, and starts
/// workers if the team has fewer. Throws Error (kUnsupported) if the system can't start them.
void set_team_size(int threads);
/// 1 unless set.
int team_size();

/// Runs BODY once for each of RANKS on the calling thread and on free workers; returns when all have run. In a region,
/// and for one rank, it runs as rank 0 of 1.
void run_region(Ranks kind, int ranks, RankBody body);

}  // namespace saccade::cpu
