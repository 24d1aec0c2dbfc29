// SPDX-License-Identifier: Apache-2.0 OR MIT
// A file is: \x93NUMPY, two version bytes, the header's length (2 bytes little-endian in version 1, 4 after), the
// header (a Python dict literal with descr, fortran_order and shape, padded with blanks), the elements.
#include "problem/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/fail.hpp"
#include "base/file.hpp"
#include "base/layout.hpp"
#include "problem/npy_header.hpp"
#include "problem/text.hpp"
#include "problem/walk.hpp"

namespace convoke::problem {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t align = 64;
// NumPy writes about a hundred bytes; version 1 cannot say more than this.
constexpr std::size_t max_header = 65535;
constexpr std::size_t max_file = std::size_t{1} << 36;

struct ElementType {
  DType dtype;
  bool swapped;  // the file's byte order is not the host's
};

class NpyReader {
 public:
  NpyReader(std::string_view file, std::optional<DType> dtype, std::string_view name)
      : rest_(file), wanted_(dtype), name_(name) {}

  Result<Array> read() {
    const auto text = header_text();
    if (!text) return tl::unexpected(text.error());
    const auto header = parse_npy_header(*text);
    if (!header) return complaint(header.error().key, header.error().text);
    const auto type = element_type(header->descr);
    if (!type) return tl::unexpected(type.error());
    TensorSpec spec = TensorSpec::dense(type->dtype, header->shape);
    if (const auto sized = check_size(spec); !sized) return tl::unexpected(sized.error());
    if (header->fortran_order) spec.strides = fortran_strides(spec);
    return fill(spec, type->swapped);
  }

 private:
  tl::unexpected<Error> complaint(std::string_view rule, std::string_view text) const {
    return fail(ErrorCode::invalid_file, std::string(rule), {named("file", name_)}, "{}: {}: {}", name_, rule, text);
  }

  std::string_view take(std::size_t bytes) {
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  Result<std::string_view> header_text() {
    if (take(magic.size()) != magic) return complaint("magic", "not a .npy file: it does not begin with \\x93NUMPY");
    const std::string_view version = take(2);
    if (version.size() < 2) return complaint("version", "the file ends inside its version");
    const int major = static_cast<unsigned char>(version[0]);
    const int minor = static_cast<unsigned char>(version[1]);
    if (major < 1 || major > 3 || minor != 0)
      return complaint("version", fmt::format("format version {}.{}; 1.0, 2.0 and 3.0 are known", major, minor));
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    const std::string_view length_text = take(length_bytes);
    if (length_text.size() < length_bytes) return complaint("header", "the file ends inside the length of its header");
    std::size_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(length_text[i]);
    if (length > max_header)
      return complaint("header", fmt::format("a header of {} bytes; at most {} are read", length, max_header));
    const std::string_view text = take(length);
    if (text.size() < length)
      return complaint("header", fmt::format("a header of {} bytes, but the file ends after {}", length, text.size()));
    return text;
  }

  Result<ElementType> element_type(std::string_view descr) const {
    constexpr std::array<std::pair<std::string_view, DType>, 4> types = {
        {{"f4", DType::f32}, {"f8", DType::f64}, {"f2", DType::f16}, {"u2", DType::bf16}}};
    const bool ordered = descr.starts_with('<') || descr.starts_with('>');
    const std::string_view kind = ordered ? descr.substr(1) : std::string_view{};
    const auto found = std::ranges::find(types, kind, &std::pair<std::string_view, DType>::first);
    if (found == types.end())
      return complaint(
          "descr",
          fmt::format("elements of type {}; f4, f8, f2 and u2 (bf16) are read, with < or > before", ticked(descr)));
    if (found->second == DType::bf16 && !wanted_)
      return complaint("dtype", "elements of type uint16: say dtype bf16 if that is what they are");
    if (wanted_ && *wanted_ != found->second)
      return complaint("dtype", fmt::format("elements of type {}, wanted {}", ticked(descr), name_of(*wanted_)));
    const bool little = descr.starts_with('<');
    return ElementType{found->second, little != (std::endian::native == std::endian::little)};
  }

  Result<void> check_size(const TensorSpec& spec) const {
    const std::size_t size = size_of(spec.dtype);
    const auto count = element_count(spec.shape);
    if (!count || !check_layout(spec, std::nullopt, "array"))
      return complaint("shape", fmt::format("the sizes of {} are too large", text_of(spec.shape)));
    // Compared by division: the product may not fit.
    if (rest_.size() % size != 0 || rest_.size() / size != static_cast<std::size_t>(*count))
      return complaint("data", fmt::format("{} bytes follow the header, but {} {} elements of shape {} were announced",
                                           rest_.size(), *count, name_of(spec.dtype), text_of(spec.shape)));
    return {};
  }

  static Dims fortran_strides(const TensorSpec& spec) {
    if (element_count(spec.shape) == 0) return spec.strides;
    Dims strides = Dims::filled(spec.shape.rank(), 1);
    for (int axis = 1; axis < strides.rank(); ++axis) strides[axis] = strides[axis - 1] * spec.shape[axis - 1];
    return strides;
  }

  Result<Array> fill(const TensorSpec& spec, bool swapped) const {
    auto buffer = Buffer::make(rest_.size(), align, Guard::none);
    if (!buffer) return tl::unexpected(buffer.error());
    std::ranges::copy(std::as_bytes(std::span(rest_)), buffer->data());
    if (swapped)
      for (std::size_t size = size_of(spec.dtype), i = 0; i < rest_.size(); i += size)
        std::reverse(buffer->data() + i, buffer->data() + i + size);
    Array array{*std::move(buffer), spec};
    array.spec.align = align;
    return array;
  }

  std::string_view rest_;
  std::optional<DType> wanted_;
  std::string_view name_;
};

std::string_view descr_of(DType dtype) {
  constexpr std::array<std::string_view, 4> descrs = {"<f4", "<f8", "<u2", "<f2"};
  return descrs[static_cast<std::size_t>(dtype)];
}

std::string header_of(DType dtype, const Dims& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
  if (shape.rank() == 1) sizes += ',';  // without it Python would read a number
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of(dtype), sizes);
  constexpr std::size_t before = 10;  // magic, version, length
  header.append(align - (before + header.size() + 1) % align, ' ');
  return header + '\n';
}

}  // namespace

Result<Array> parse_npy(std::span<const std::byte> file, std::optional<DType> dtype, std::string_view name) {
  return NpyReader({reinterpret_cast<const char*>(file.data()), file.size()}, dtype, name).read();
}

Result<Array> read_npy(const std::string& path, std::optional<DType> dtype) {
  const auto file = read_file(path, max_file);
  if (!file) return tl::unexpected(file.error());
  return parse_npy(std::as_bytes(std::span(*file)), dtype, path);
}

std::string format_npy(const ConstTensor& tensor) {
  const TensorSpec& spec = tensor.spec;
  const std::size_t size = size_of(spec.dtype);
  const std::string header = header_of(spec.dtype, spec.shape);
  std::string file(magic);
  file += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  const std::size_t begin = file.size();
  file.resize(begin + static_cast<std::size_t>(element_count(spec.shape).value_or(0)) * size);
  const auto* from = static_cast<const char*>(tensor.data);
  char* to = file.data() + begin;
  walk(spec.shape, {spec.strides, spec.strides, spec.offset, 0}, [&](std::int64_t element, std::int64_t) {
    std::memcpy(to, from + element * static_cast<std::int64_t>(size), size);
    if constexpr (std::endian::native == std::endian::big) std::reverse(to, to + size);
    to += size;
  });
  return file;
}

Result<void> write_npy(const std::string& path, const ConstTensor& tensor) {
  return write_file_whole(path, format_npy(tensor));
}

}  // namespace convoke::problem
