// SPDX-License-Identifier: Apache-2.0 OR MIT
// The one calling convention of every kernel: C structs that carry their own size, so that a kernel built against an
// older header still runs. A kernel trusts what it is handed: the planner has proved every clause of its contract.
#ifndef CONVOKE_KERNELS_COMMON_KERNEL_H
#define CONVOKE_KERNELS_COMMON_KERNEL_H

#include <stdint.h>

// NOLINTBEGIN(modernize-use-using): this header is C as well.
#ifdef __cplusplus
extern "C" {
#endif

#define CONVOKE_KERNEL_VERSION 1u
#define CONVOKE_MAX_RANK 6

enum convoke_dtype { CONVOKE_F32 = 0, CONVOKE_F64 = 1, CONVOKE_BF16 = 2, CONVOKE_F16 = 3 };

// What a kernel may say at run time. A broken precondition is never a status: the planner rules those out.
enum convoke_status { CONVOKE_OK = 0, CONVOKE_RUNTIME_FAILURE = 1 };

// One tensor as it lies in memory. Element i of the logical tensor is at data + (offset + sum i[k] * stride[k])
// elements.
typedef struct convoke_operand {
  uint32_t size;     // sizeof(convoke_operand) of whoever filled it
  int32_t dtype;     // enum convoke_dtype
  int32_t rank;      // 0 to CONVOKE_MAX_RANK
  int32_t reserved;  // 0
  void* data;        // host pointer, or a device handle; inputs are only read
  uint64_t bytes;    // size of the memory behind data
  int64_t offset;    // in elements
  int64_t shape[CONVOKE_MAX_RANK];
  int64_t stride[CONVOKE_MAX_RANK];  // in elements; zero and negative strides are legal where the contract accepts them
} convoke_operand;

// Parameters of Conv2D and ConvTranspose2D. Axis 0 is height, axis 1 is width. The end padding and output_padding show
// only in the shape of the output, which is validated before the kernel runs.
typedef struct convoke_conv_params {
  uint32_t size;
  uint32_t reserved;
  int64_t stride[2];
  int64_t padding[2];  // at the beginning of each axis
  int64_t dilation[2];
  int64_t groups;
} convoke_conv_params;

// A caller's own thread pool: calls body(body_context, begin, end) over disjoint ranges that cover [0, count), on any
// threads, and returns when all are done.
typedef void (*convoke_range_body)(void* body_context, int64_t begin, int64_t end);
typedef struct convoke_parallel_for {
  void* context;
  void (*run)(void* context, int64_t count, convoke_range_body body, void* body_context);
} convoke_parallel_for;

typedef struct convoke_call {
  uint32_t size;
  uint32_t version;  // CONVOKE_KERNEL_VERSION of whoever filled it
  const convoke_operand* const* inputs;
  const convoke_operand* const* outputs;
  int32_t input_count;
  int32_t output_count;
  const void* params;  // convoke_conv_params for the convolutions and Pack; null for the others
  void* scratch;       // aligned to 64 bytes; workspace_bytes of the contract, contents undefined; a handle where all
                       // operands lie on a device
  uint64_t scratch_bytes;
  int32_t threads;  // at least 1; an upper bound for the threads a kernel starts. Where workspace_bytes depends on the
                    // threads, scratch is for at least so many: split into so many ranges, each with a part of its own
  int32_t reserved;
  const convoke_parallel_for* parallel_for;  // null: OpenMP
} convoke_call;

typedef int32_t (*convoke_host_kernel)(const convoke_call* call);

// Instruction sets a built kernel needs, as bits. A kernel is bound only where the host has them all.
enum convoke_isa {
  CONVOKE_ISA_BASELINE = 0,  // x86-64 or armv8-a, as the compiler targets it by default
  CONVOKE_ISA_FMA = 1,       // x86-64-v3: AVX2, FMA, F16C
  CONVOKE_ISA_AVX512 = 2     // x86-64-v4
};

// What a kernel computes, and so what it may be handed. Convolutions take x, weight and, where the key has one, bias,
// and write out; the others take one operand and write one. The output of Pack has the shape of the weight but is
// opaque: `bytes` is what the convolution's contract says under `packing`. It is kept and handed to convolutions of
// other sizes, so it depends on the weight and `params` alone. Upload reads host memory and writes a device's, Download
// the other way round; every other kernel of a device finds all its operands there.
enum convoke_operator {
  CONVOKE_CONV2D = 0,
  CONVOKE_CONV_TRANSPOSE2D = 1,
  CONVOKE_CONTIGUIZE = 2,
  CONVOKE_COPY_OUT = 3,
  CONVOKE_CAST = 4,
  CONVOKE_PACK = 5,
  CONVOKE_UPLOAD = 6,
  CONVOKE_DOWNLOAD = 7
};

// A device whose memory is not the host's. Handles stand where convoke_operand has `data`; nobody but the device's own
// kernels looks behind them. Both functions may be called from any thread.
typedef struct convoke_device {
  uint32_t size;
  uint32_t alignment;  // of every allocation, in bytes, as contracts count it
  const char* name;
  void* context;
  void* (*allocate)(void* context, uint64_t bytes);  // null where there is no room
  void (*release)(void* context, void* handle);
} convoke_device;

// One row of a folder's entry table. Rows of one symbol stand in order of preference. A contract that says anything
// else of the symbol than the row does is refused when it is bound.
typedef struct convoke_entry {
  const char* symbol;
  int32_t op;            // enum convoke_operator
  int32_t input_dtype;   // enum convoke_dtype, of every input
  int32_t output_dtype;  // enum convoke_dtype
  uint32_t isa;          // bits of enum convoke_isa
  convoke_host_kernel function;
} convoke_entry;

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-use-using)
#endif
