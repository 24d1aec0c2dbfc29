// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/vocabulary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace convoke::contract {
namespace {

constexpr auto dtypes = std::to_array<std::string_view>({
    "BF16",
    "F16",
    "F32",
    "F4",
    "F64",
    "F6E2M3",
    "F6E3M2",
    "F8E4M3",
    "F8E6M2",
    "F8E8M0",
    "I16",
    "I32",
    "I64",
    "I8",
    "U32",
    "U8",
});

constexpr auto op_kinds = std::to_array<std::string_view>({
    "AbsElementwise",
    "AbsInplace",
    "AddAssignScaled",
    "AddElementwise",
    "Affine",
    "ArgMaxDim",
    "ArgMinDim",
    "ArgSort",
    "AvgPool2D",
    "BroadcastTo",
    "Cast",
    "CausalConv1d",
    "CeilElementwise",
    "CeilInplace",
    "ClampElementwise",
    "ClampInplace",
    "Col2Im1d",
    "Concat",
    "Contiguize",
    "Conv2D",
    "Conv2dSimple",
    "ConvTranspose1D",
    "ConvTranspose2D",
    "Copy",
    "CopyOut",
    "CosElementwise",
    "CosInplace",
    "CumSum",
    "DequantizeQ4KM",
    "DequantizeQ4_0",
    "DequantizeQ8_0",
    "DivElementwise",
    "Download",
    "EqualElementwise",
    "ErfElementwise",
    "ErfInplace",
    "ExpElementwise",
    "ExpInplace",
    "FlashAttn",
    "FlashAttnBackwardK",
    "FlashAttnBackwardQ",
    "FlashAttnBackwardV",
    "Flip",
    "FloorElementwise",
    "FloorInplace",
    "FusedLinear",
    "FusedSoftmaxCrossEntropy",
    "Gather",
    "GeluElementwise",
    "GeluErfElementwise",
    "GeluErfInplace",
    "GeluInplace",
    "GreaterElementwise",
    "GreaterEqualElementwise",
    "Im2Col",
    "Im2Col1d",
    "IndexAdd",
    "IndexSelect",
    "InplaceAffine",
    "LayerNormLastDim",
    "LayerNormLastDimBackward",
    "LessElementwise",
    "LessEqualElementwise",
    "LogElementwise",
    "LogInplace",
    "LogSoftmaxLastDim",
    "LogSoftmaxLastDimBackward",
    "MaskedFill",
    "MatMul",
    "MaxPool2D",
    "MaxReduce",
    "MaximumElementwise",
    "MeanReduce",
    "MinReduce",
    "MinimumElementwise",
    "MulElementwise",
    "NegElementwise",
    "NegInplace",
    "Nf4Matmul",
    "NotEqualElementwise",
    "Pack",
    "Pad",
    "PadBackward",
    "PagedAttn",
    "Permute",
    "PowElementwise",
    "PowIElementwise",
    "PowIElementwiseBackward",
    "PowIInplace",
    "QMatMul",
    "QuantizeQ8_0",
    "RandNormal",
    "RandUniform",
    "RecipElementwise",
    "RecipInplace",
    "ReduceMaxTo",
    "ReduceMaxToBackward",
    "ReduceSumTo",
    "ReluElementwise",
    "ReluInplace",
    "RemElementwise",
    "Reshape",
    "RmsNormLastDim",
    "RmsNormLastDimBackward",
    "Roll",
    "Rope",
    "RoundElementwise",
    "RoundInplace",
    "RsqrtElementwise",
    "RsqrtInplace",
    "Scatter",
    "ScatterAdd",
    "SelectiveScan",
    "SigmoidElementwise",
    "SigmoidInplace",
    "SignElementwise",
    "SignInplace",
    "SiluElementwise",
    "SiluInplace",
    "SinElementwise",
    "SinInplace",
    "Slice",
    "SoftmaxLastDim",
    "SoftmaxLastDimBackward",
    "SqrElementwise",
    "SqrInplace",
    "SqrtElementwise",
    "SqrtInplace",
    "SsdChunkScan",
    "StepElementwise",
    "SubElementwise",
    "SumReduce",
    "TanhElementwise",
    "TanhInplace",
    "Transpose",
    "Triangular",
    "Tril",
    "Triu",
    "Upload",
    "UpsampleBilinear2D",
    "UpsampleNearest2D",
    "Where",
    "WriteSlice",
    "WriteSliceDoff",
    "WriteSliceRotating",
});

constexpr auto fused_ops = std::to_array<std::string_view>({
    "CAUSAL_CONV1D",
    "CONV2D",
    "CONV_TRANSPOSE2D",
    "FLASH_ATTN",
    "FLASH_ATTN_BACKWARD_K",
    "FLASH_ATTN_BACKWARD_Q",
    "FLASH_ATTN_BACKWARD_V",
    "FUSED_LINEAR",
    "FUSED_SOFTMAX_CROSS_ENTROPY",
    "INPLACE_AFFINE",
    "LAYER_NORM_LAST_DIM",
    "LAYER_NORM_LAST_DIM_BACKWARD",
    "NF4_MATMUL",
    "PAGED_ATTN",
    "POWI_BACKWARD",
    "QMATMUL",
    "REDUCE_MAX_TO_BACKWARD",
    "RMS_NORM_LAST_DIM",
    "RMS_NORM_LAST_DIM_BACKWARD",
    "ROPE",
    "SELECTIVE_SCAN",
    "SOFTMAX_LAST_DIM",
    "SOFTMAX_LAST_DIM_BACKWARD",
    "SSD_CHUNK_SCAN",
});

constexpr auto primitive_variants = std::to_array<std::string_view>({
    "AddAssignScaled",
    "Affine",
    "ArgSort",
    "AvgPool2D",
    "Cast",
    "CausalConv1d",
    "Clamp",
    "Concat",
    "Contiguize",
    "Conv1D",
    "Conv2D",
    "Conv2dSimple",
    "ConvShape",
    "ConvTranspose1D",
    "ConvTranspose2D",
    "CopyOut",
    "CumSum",
    "Download",
    "FlashAttn",
    "Flip",
    "FusedSoftmaxCrossEntropy",
    "Gather",
    "Im2Col",
    "IndexAdd",
    "IndexSelect",
    "LogSoftmaxLastDim",
    "MaskedFill",
    "Matmul",
    "MaxPool2D",
    "Nf4Matmul",
    "None",
    "NormLastDim",
    "Pack",
    "Pad",
    "PadBackward",
    "PagedAttn",
    "Permute",
    "PowI",
    "QMatMul",
    "RandNormal",
    "RandUniform",
    "Reduce",
    "ReduceMaxTo",
    "ReduceMaxToBackward",
    "ReduceSumTo",
    "Roll",
    "Rope",
    "Scatter",
    "ScatterAdd",
    "SelectiveScan",
    "Slice",
    "SoftmaxLastDim",
    "SsdChunkScan",
    "Triangular",
    "Upload",
    "UpsampleBilinear2D",
    "UpsampleNearest2D",
    "WriteSlice",
    "WriteSliceDoff",
    "WriteSliceRotating",
});

constexpr auto fused_variants = std::to_array<std::string_view>({
    "CausalConv1d",
    "Conv2D",
    "ConvTranspose2D",
    "FlashAttn",
    "FlashAttnBackward",
    "FusedLinear",
    "FusedSoftmaxCrossEntropy",
    "InplaceAffine",
    "LayerNormLastDim",
    "LayerNormLastDimBackward",
    "Nf4Matmul",
    "None",
    "PagedAttn",
    "PowIBackward",
    "QMatMul",
    "ReduceMaxToBackward",
    "RmsNormLastDim",
    "RmsNormLastDimBackward",
    "Rope",
    "SelectiveScan",
    "SoftmaxLastDim",
    "SoftmaxLastDimBackward",
    "SsdChunkScan",
});

constexpr auto quant_families = std::to_array<std::string_view>({
    "AFFINE_BLOCK",
    "AFFINE_FLOAT",
    "AFFINE_INT",
    "GGML_BLOCK",
    "MX",
    "NONE",
    "none",
});

constexpr auto granularities = std::to_array<std::string_view>({
    "PerBlock",
    "PerChannel",
    "PerTensor",
    "PerToken",
});

constexpr auto ggml_dtypes = std::to_array<std::string_view>({
    "BF16",
    "F16",
    "F32",
    "Q2K",
    "Q3K",
    "Q4K",
    "Q4_0",
    "Q4_1",
    "Q5K",
    "Q5_0",
    "Q5_1",
    "Q6K",
    "Q8K",
    "Q8_0",
    "Q8_1",
});

constexpr auto cost_classes = std::to_array<std::string_view>(
    {"attention", "blocked_conv", "cheap_elementwise", "conv", "depthwise_conv", "free", "gemm_like", "normalization",
     "pixel_conv", "reduction", "strided_blocked_conv", "strided_conv", "strided_depthwise_conv", "strided_elementwise",
     "strided_pixel_conv"});

constexpr auto shape_rules = std::to_array<std::string_view>({
    "broadcast",
    "concat",
    "conv2d",
    "conv_transpose2d",
    "from_params",
    "matmul",
    "pad",
    "pad_backward",
    "reduce",
    "reduced",
    "same_as",
});

static_assert(std::ranges::is_sorted(shape_rules));
static_assert(std::ranges::is_sorted(dtypes));
static_assert(std::ranges::is_sorted(op_kinds));
static_assert(std::ranges::is_sorted(fused_ops));
static_assert(std::ranges::is_sorted(primitive_variants));
static_assert(std::ranges::is_sorted(fused_variants));
static_assert(std::ranges::is_sorted(quant_families));
static_assert(std::ranges::is_sorted(granularities));
static_assert(std::ranges::is_sorted(ggml_dtypes));
static_assert(std::ranges::is_sorted(cost_classes));

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view token) noexcept {
  return std::ranges::binary_search(words, token);
}

}  // namespace

bool is_dtype(std::string_view token) noexcept { return contains(dtypes, token); }
bool is_sub_byte(std::string_view dtype) noexcept { return dtype == "F4" || dtype == "F6E2M3" || dtype == "F6E3M2"; }
bool is_op_kind(std::string_view token) noexcept { return contains(op_kinds, token); }
bool is_fused_op(std::string_view token) noexcept { return contains(fused_ops, token); }
bool is_primitive_variant(std::string_view token) noexcept { return contains(primitive_variants, token); }
bool is_fused_variant(std::string_view token) noexcept { return contains(fused_variants, token); }
bool is_quant_family(std::string_view token) noexcept { return contains(quant_families, token); }
bool is_granularity(std::string_view token) noexcept { return contains(granularities, token); }
bool is_ggml_dtype(std::string_view token) noexcept { return contains(ggml_dtypes, token); }
bool is_cost_class(std::string_view token) noexcept { return contains(cost_classes, token); }
std::string cost_class_list() { return fmt::format("{}", fmt::join(cost_classes, ", ")); }

bool is_shape_rule(std::string_view head) noexcept { return contains(shape_rules, head); }
std::span<const std::string_view> shape_rule_words() noexcept { return shape_rules; }
std::span<const std::string_view> op_kind_words() noexcept { return op_kinds; }
std::span<const std::string_view> fused_op_words() noexcept { return fused_ops; }
std::span<const std::string_view> variant_words(bool fused) noexcept {
  return fused ? std::span<const std::string_view>(fused_variants) : primitive_variants;
}

std::string_view variant_fields(std::string_view variant) noexcept {
  if (variant == "Conv2D") return "x_shape w_shape out_shape stride padding dilation groups";
  if (variant == "ConvTranspose2D") return "x_shape w_shape out_shape stride padding output_padding dilation groups";
  return {};
}

}  // namespace convoke::contract
