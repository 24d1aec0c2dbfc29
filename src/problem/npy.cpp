// SPDX-License-Identifier: Apache-2.0 OR MIT
// A file is: \x93NUMPY, two version bytes, the header's length (2 bytes little-endian in version 1, 4 after), the
// header (a Python dict literal with descr, fortran_order and shape, padded with blanks), the elements.
#include "problem/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/fail.hpp"
#include "base/file.hpp"
#include "base/layout.hpp"
#include "problem/npy_header.hpp"
#include "problem/text.hpp"
#include "problem/walk.hpp"

namespace convoke::problem {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t header_align = 64;
// NumPy writes about a hundred bytes; version 1 cannot say more than this.
constexpr std::size_t max_header = 65535;
constexpr std::size_t max_data = std::size_t{1} << 36;

struct ElementType {
  DType dtype;
  bool swapped;  // the file's byte order is not the host's
};

// Bytes in order: of a text, or of a file, which is read no further than it is asked.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text) {}
  explicit Source(std::FILE* file) : file_(file) {}

  // Fewer only where the source ends, or cannot be read.
  std::string take(std::size_t count) {
    if (file_ == nullptr) {
      const std::string_view taken = text_.substr(0, count);
      text_.remove_prefix(taken.size());
      return std::string(taken);
    }
    // In growing steps: what a header announces is no reason to ask for that much memory.
    std::string bytes;
    for (std::size_t chunk = 1 << 16; bytes.size() < count; chunk = std::min<std::size_t>(chunk * 2, 1 << 24)) {
      const std::size_t old = bytes.size(), wanted = std::min(chunk, count - old);
      bytes.resize(old + wanted);
      const std::size_t got = std::fread(bytes.data() + old, 1, wanted, file_);
      if (got < wanted && std::ferror(file_) != 0) failure_ = errno;
      bytes.resize(old + got);
      if (got < wanted) break;
    }
    return bytes;
  }
  int failure() const noexcept { return failure_; }  // errno, or 0

 private:
  std::string_view text_;
  std::FILE* file_ = nullptr;
  int failure_ = 0;
};

class NpyReader {
 public:
  NpyReader(Source source, std::optional<DType> dtype, std::string_view name)
      : source_(source), wanted_(dtype), name_(name) {}

  Result<Array> read() {
    auto array = read_all();
    if (source_.failure() == 0) return array;
    return io_failure(name_, "cannot read", source_.failure());
  }

  static tl::unexpected<Error> io_failure(std::string_view path, std::string_view what, int error) {
    return fail(ErrorCode::io, "file", {named("path", path), named("errno", error)}, "{}: {}: {}", path, what,
                std::generic_category().message(error));
  }

 private:
  Result<Array> read_all() {
    const auto text = header_text();
    if (!text) return tl::unexpected(text.error());
    const auto header = parse_npy_header(*text);
    if (!header) return complaint(header.error().key, header.error().text);
    const auto type = element_type(header->descr);
    if (!type) return tl::unexpected(type.error());
    TensorSpec spec = TensorSpec::dense(type->dtype, header->shape);
    const auto data = element_bytes(spec);
    if (!data) return tl::unexpected(data.error());
    if (header->fortran_order) spec.strides = fortran_strides(spec);
    return fill(spec, *data, type->swapped);
  }

  tl::unexpected<Error> complaint(std::string_view rule, std::string_view text) const {
    return fail(ErrorCode::invalid_file, std::string(rule), {named("file", name_)}, "{}: {}: {}", name_, rule, text);
  }

  Result<std::string> header_text() {
    if (source_.take(magic.size()) != magic)
      return complaint("magic", "not a .npy file: it does not begin with \\x93NUMPY");
    const std::string version = source_.take(2);
    if (version.size() < 2) return complaint("version", "the file ends inside its version");
    const int major = static_cast<unsigned char>(version[0]);
    const int minor = static_cast<unsigned char>(version[1]);
    if (major < 1 || major > 3 || minor != 0)
      return complaint("version", fmt::format("format version {}.{}; 1.0, 2.0 and 3.0 are known", major, minor));
    const std::size_t length_bytes = major == 1 ? 2 : 4;
    const std::string length_text = source_.take(length_bytes);
    if (length_text.size() < length_bytes) return complaint("header", "the file ends inside the length of its header");
    std::size_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(length_text[i]);
    if (length > max_header)
      return complaint("header", fmt::format("a header of {} bytes; at most {} are read", length, max_header));
    std::string text = source_.take(length);
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
      return complaint("dtype", "elements of type uint16; give --dtype bf16 if they are bf16");
    if (wanted_ && *wanted_ != found->second)
      return complaint("dtype", fmt::format("elements of type {}, wanted {}", ticked(descr), name_of(*wanted_)));
    const bool little = descr.starts_with('<');
    return ElementType{found->second, little != (std::endian::native == std::endian::little)};
  }

  Result<std::string> element_bytes(const TensorSpec& spec) {
    const std::size_t size = size_of(spec.dtype);
    const auto count = element_count(spec.shape);
    if (!count || !check_layout(spec, std::nullopt, "array"))
      return complaint("shape", fmt::format("the sizes of {} are too large", text_of(spec.shape)));
    // Bounded before the product, which may not fit.
    const auto readable = std::min(static_cast<std::size_t>(*count), max_data / size);
    std::string data = source_.take(readable * size);
    const bool all = readable == static_cast<std::size_t>(*count) && data.size() == readable * size;
    const bool more = all && !source_.take(1).empty();
    if (all && !more) return data;
    return complaint(
        "data", fmt::format("{}{} bytes follow the header, but {} {} elements of shape {} were announced",
                            more ? "more than " : "", data.size(), *count, name_of(spec.dtype), text_of(spec.shape)));
  }

  static Dims fortran_strides(const TensorSpec& spec) {
    if (element_count(spec.shape) == 0) return spec.strides;
    Dims strides = Dims::filled(spec.shape.rank(), 1);
    for (int axis = 1; axis < strides.rank(); ++axis) strides[axis] = strides[axis - 1] * spec.shape[axis - 1];
    return strides;
  }

  static Result<Array> fill(const TensorSpec& spec, std::string_view data, bool swapped) {
    auto buffer = Buffer::make(data.size(), header_align, Guard::none);
    if (!buffer) return tl::unexpected(buffer.error());
    std::ranges::copy(std::as_bytes(std::span(data)), buffer->data());
    if (swapped)
      for (std::size_t size = size_of(spec.dtype), i = 0; i < data.size(); i += size)
        std::reverse(buffer->data() + i, buffer->data() + i + size);
    Array array{*std::move(buffer), spec};
    array.spec.align = header_align;
    return array;
  }

  Source source_;
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
  header.append(header_align - (before + header.size() + 1) % header_align, ' ');
  return header + '\n';
}

}  // namespace

Result<Array> parse_npy(std::span<const std::byte> file, std::optional<DType> dtype, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return NpyReader(Source(text), dtype, name).read();
}

Result<Array> read_npy(const std::string& path, std::optional<DType> dtype) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) return NpyReader::io_failure(path, "cannot open", errno);
  return NpyReader(Source(file.get()), dtype, path).read();
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
