// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <png.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "apps/demo/picture.hpp"
#include "base/fail.hpp"
#include "base/file.hpp"

namespace convoke::demo {
namespace {

std::vector<png_byte> to_bytes(const Picture& picture) {
  std::vector<png_byte> bytes;
  bytes.reserve(picture.planes.size());
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      for (int c = 0; c < 3; ++c)
        bytes.push_back(static_cast<png_byte>(std::lround(255 * std::clamp(picture.at(c, y, x), 0.0, 1.0))));
  return bytes;
}

}  // namespace

Result<void> write_png(const std::string& path, const Picture& picture) {
  const std::vector<png_byte> pixels = to_bytes(picture);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  // The first call asks for the size; both report through the image, so no jump out of C code passes through ours.
  png_alloc_size_t size = 0;
  std::string file;
  bool written = png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr) != 0;
  if (written) {
    file.resize(size);
    written = png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr) != 0;
  }
  const std::string why = image.message;
  png_image_free(&image);
  if (!written) return fail(ErrorCode::io, "png", {named("path", path)}, "{}: cannot make a PNG: {}", path, why);
  file.resize(size);
  return write_file_whole(path, file);
}

}  // namespace convoke::demo
