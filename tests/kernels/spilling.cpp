// SPDX-License-Identifier: Apache-2.0 OR MIT
// What tools/check_spills.py must find: a vector on the stack beside a multiply-add. Never run.
extern "C" void convoke_spilling();
extern "C" void convoke_spilling() {
  asm volatile(
      "vmovups %ymm2, -64(%rsp)\n\t"
      "vfmadd231ps %ymm0, %ymm1, %ymm2\n\t"
      "vmovups -64(%rsp), %ymm2");
}
