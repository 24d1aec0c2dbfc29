// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the processor can do at best: a loop of fused multiply-adds in registers, the widest that it has.
#pragma once

namespace convoke::peers {

/// Multiplications and additions in f32 that one call of run_fma_loop() makes.
double fma_loop_flops(int threads);

/// The loop on each of so many threads, all the same share: some hundred microseconds where nobody disturbs.
void run_fma_loop(int threads);

}  // namespace convoke::peers
