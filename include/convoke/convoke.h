/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The C face: the same operations as convoke.hpp, for C and for any language that calls C. Functions return 0
 * (CONVOKE_SUCCESS) or a code; the text of the last failure of the calling thread is convoke_last_error_message().
 * Sizes, strides and offsets count elements; bytes are bytes. Formulas and shapes: params.hpp and plan.hpp.
 */
#ifndef CONVOKE_CONVOKE_H
#define CONVOKE_CONVOKE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CONVOKE_C_API __attribute__((visibility("default")))
#else
#define CONVOKE_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Codes of convoke::ErrorCode. */
enum {
  CONVOKE_SUCCESS = 0,
  CONVOKE_INVALID_ARGUMENT = 1,
  CONVOKE_INVALID_SHAPE = 2,
  CONVOKE_INVALID_LAYOUT = 3,
  CONVOKE_OVERLAP = 4,
  CONVOKE_UNSUPPORTED = 5,
  CONVOKE_NO_KERNEL = 6,
  CONVOKE_NOT_FOUND = 7,
  CONVOKE_INVALID_DOCUMENT = 8,
  CONVOKE_INVALID_FILE = 9,
  CONVOKE_IO = 10,
  CONVOKE_OUT_OF_MEMORY = 11,
  CONVOKE_KERNEL_FAILURE = 12
};

/* Element types; bf16 and f16 are 16-bit words. */
enum { CONVOKE_DTYPE_F32 = 0, CONVOKE_DTYPE_F64 = 1, CONVOKE_DTYPE_BF16 = 2, CONVOKE_DTYPE_F16 = 3 };

enum { CONVOKE_TENSOR_MAX_RANK = 6 };

/* A view over the caller's memory; as an input it is only read. Start from convoke_dense_tensor(). */
typedef struct convoke_tensor {
  size_t size; /* sizeof(convoke_tensor), so that a later library knows which fields there are */
  void* data;
  size_t bytes;  /* size of the memory behind data */
  int32_t dtype; /* CONVOKE_DTYPE_... */
  int32_t rank;  /* 0 to CONVOKE_TENSOR_MAX_RANK */
  int64_t shape[6];
  int64_t strides[6]; /* may be 0 or negative for inputs */
  int64_t offset;
} convoke_tensor;

/* Zero-initialised parameters are wrong (stride 0): start from convoke_default_conv2d_params(). */
typedef struct convoke_conv2d_params {
  size_t size;          /* sizeof(convoke_conv2d_params) */
  int64_t stride[2];    /* height, width; each >= 1 */
  int64_t padding[4];   /* top, left, bottom, right; each >= 0 */
  int32_t padding_same; /* nonzero: ONNX SAME_UPPER, padding is ignored */
  int64_t dilation[2];  /* each >= 1 */
  int64_t groups;       /* >= 1; divides Cin and Cout */
} convoke_conv2d_params;

typedef struct convoke_conv_transpose2d_params {
  size_t size;               /* sizeof(convoke_conv_transpose2d_params) */
  int64_t stride[2];         /* height, width; each >= 1 */
  int64_t padding[4];        /* top, left, bottom, right; each >= 0 */
  int64_t dilation[2];       /* each >= 1 */
  int64_t output_padding[2]; /* each >= 0 and < max(stride, dilation) of its axis */
  int64_t groups;            /* >= 1; divides Cin */
} convoke_conv_transpose2d_params;

/* Which kernels a plan may use (PlanOptions in plan.hpp). Zero-initialised, with its size set, it is the defaults. */
typedef struct convoke_plan_options {
  size_t size;        /* sizeof(convoke_plan_options) */
  const char* demand; /* "reproducible", "order(NAME)", "accurate(FACTOR)", "fast" or "any"; null: reproducible, or any
                         where kernel is given */
  const char* kernel; /* only kernels whose ImplId this glob matches convolve; null: all */
  const char* const* forbid; /* globs of kernels that must not be used, copies included */
  size_t forbid_count;
  const char* const* backends; /* "cpu", "vulkan", ...: the only ones that convolve; none: all */
  size_t backend_count;
  int32_t threads;           /* that routes are priced for; 0: as many as the machine has processors */
  int32_t has_workspace_cap; /* nonzero: workspace_cap holds */
  size_t workspace_cap;      /* most bytes of scratch */
  int32_t packed_weight;     /* nonzero: the weight will be packed once (convoke_plan_pack), which is priced 0 */
} convoke_plan_options;

/* A chosen way to compute one convolution; immutable, usable from many threads. */
typedef struct convoke_plan convoke_plan;
/* A weight as a kernel takes it, in memory of its own; immutable, usable from many threads. */
typedef struct convoke_packed_weight convoke_packed_weight;

/* A dense row-major tensor over data; rank <= 6, else the result's rank is -1 and every call refuses it. */
CONVOKE_C_API convoke_tensor convoke_dense_tensor(void* data, int32_t dtype, int32_t rank, const int64_t* shape);
/* Stride 1, padding 0, dilation 1, groups 1. */
CONVOKE_C_API convoke_conv2d_params convoke_default_conv2d_params(void);
CONVOKE_C_API convoke_conv_transpose2d_params convoke_default_conv_transpose2d_params(void);

/* Shape of the output, [N, Cout, Ho, Wo], into out_shape[4]. params may be null: the defaults. */
CONVOKE_C_API int convoke_conv2d_output_shape(const int64_t x_shape[4], const int64_t weight_shape[4],
                                              const convoke_conv2d_params* params, int64_t out_shape[4]);
CONVOKE_C_API int convoke_conv_transpose2d_output_shape(const int64_t x_shape[4], const int64_t weight_shape[4],
                                                        const convoke_conv_transpose2d_params* params,
                                                        int64_t out_shape[4]);

/* Plans and runs in one call. bias and params may be null. threads 0: as many as OpenMP would. */
CONVOKE_C_API int convoke_conv2d(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                                 const convoke_tensor* out, const convoke_conv2d_params* params, int32_t threads);
CONVOKE_C_API int convoke_conv_transpose2d(const convoke_tensor* x, const convoke_tensor* weight,
                                           const convoke_tensor* bias, const convoke_tensor* out,
                                           const convoke_conv_transpose2d_params* params, int32_t threads);

/*
 * Plans for tensors of these layouts; data may be null here, and is then taken to be aligned to its elements only.
 * params and options may be null. On success *plan must be given to convoke_plan_destroy.
 */
CONVOKE_C_API int convoke_plan_conv2d(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                                      const convoke_tensor* out, const convoke_conv2d_params* params,
                                      const convoke_plan_options* options, convoke_plan** plan);
CONVOKE_C_API int convoke_plan_conv_transpose2d(const convoke_tensor* x, const convoke_tensor* weight,
                                                const convoke_tensor* bias, const convoke_tensor* out,
                                                const convoke_conv_transpose2d_params* params,
                                                const convoke_plan_options* options, convoke_plan** plan);
/*
 * Runs the plan on tensors of the layouts it was made for. threads 0: as many as OpenMP would. scratch: at least
 * convoke_plan_workspace_bytes(plan) bytes of any alignment, used until the call returns; null: Convoke allocates.
 */
CONVOKE_C_API int convoke_plan_run(const convoke_plan* plan, const convoke_tensor* x, const convoke_tensor* weight,
                                   const convoke_tensor* bias, const convoke_tensor* out, int32_t threads,
                                   void* scratch, size_t scratch_bytes);
/*
 * Does what the plan does to the weight alone, once; convoke_plan_run_packed then starts behind it. The plan itself,
 * and every plan of the same operation, parameters and weight whose kernel takes the weight in the same form (one for
 * another batch, say), takes *packed; it may outlive the plan. On success *packed must be given to
 * convoke_packed_weight_free.
 */
CONVOKE_C_API int convoke_plan_pack(const convoke_plan* plan, const convoke_tensor* weight, int32_t threads,
                                    void* scratch, size_t scratch_bytes, convoke_packed_weight** packed);
CONVOKE_C_API void convoke_packed_weight_free(convoke_packed_weight* packed); /* null is allowed */
/* convoke_plan_run with a packed weight. CONVOKE_INVALID_ARGUMENT where it does not fit, with what differs as text. */
CONVOKE_C_API int convoke_plan_run_packed(const convoke_plan* plan, const convoke_tensor* x,
                                          const convoke_packed_weight* weight, const convoke_tensor* bias,
                                          const convoke_tensor* out, int32_t threads, void* scratch,
                                          size_t scratch_bytes);
/* Scratch that convoke_plan_run and convoke_plan_pack need, in bytes; 0 for null. */
CONVOKE_C_API size_t convoke_plan_workspace_bytes(const convoke_plan* plan);
/* Scratch that convoke_plan_run_packed needs, at most as much; 0 for null. */
CONVOKE_C_API size_t convoke_plan_packed_workspace_bytes(const convoke_plan* plan);
/* ImplId of the kernel that convolves; lives as long as the plan. Empty for null. */
CONVOKE_C_API const char* convoke_plan_kernel(const convoke_plan* plan);
/* Time that one run was priced at, in nanoseconds; 0 for null. */
CONVOKE_C_API double convoke_plan_price_ns(const convoke_plan* plan);
CONVOKE_C_API void convoke_plan_destroy(convoke_plan* plan); /* null is allowed */

/*
 * The last failure of the calling thread: its text, the rule that was broken, its code. Empty and 0 before any; a
 * success changes nothing. The strings are valid until the next call on the same thread.
 */
CONVOKE_C_API const char* convoke_last_error_message(void);
CONVOKE_C_API const char* convoke_last_error_rule(void);
CONVOKE_C_API int convoke_last_error_code(void);

#ifdef __cplusplus
}
#endif
#endif
