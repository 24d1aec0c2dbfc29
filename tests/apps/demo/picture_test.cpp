// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/demo/picture.hpp"

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace convoke::demo {
namespace {

TEST(Picture, TheEveningIsDrawnAlikeEachTimeAndHasContrast) {
  const Picture picture = draw_evening(48);
  EXPECT_EQ(picture.planes.size(), 3U * 48 * 48);
  EXPECT_EQ(picture.planes, draw_evening(48).planes);
  const auto [low, high] = std::ranges::minmax(picture.planes);
  EXPECT_GE(low, 0.0);
  EXPECT_LE(high, 1.0);
  EXPECT_GT(high - low, 0.7);
}

TEST(Picture, AContactSheetHoldsEveryPicture) {
  Picture red(4, 4), green(2, 6);
  std::ranges::fill(red.planes.begin(), red.planes.begin() + 16, 1.0);
  std::ranges::fill(green.planes.begin() + 12, green.planes.begin() + 24, 1.0);
  const Picture sheet = contact_sheet({red, green, red}, 8 + 4 + 8 + 2 + 8);  // room for two on a shelf
  EXPECT_EQ(sheet.width, 8 + 4 + 8 + 2 + 8);
  EXPECT_EQ(sheet.height, 8 + 6 + 8 + 4 + 8);
  const auto full = [&](int channel) {
    int count = 0;
    for (int y = 0; y < sheet.height; ++y)
      for (int x = 0; x < sheet.width; ++x) count += sheet.at(channel, y, x) == 1.0 ? 1 : 0;
    return count;
  };
  EXPECT_EQ(full(0), 2 * 16);
  EXPECT_EQ(full(1), 12);
  EXPECT_EQ(full(2), 0);
}

TEST(Picture, APngHoldsThePixelsClampedAndRounded) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "convoke_picture_test.png";
  Picture picture(3, 2);
  for (std::size_t i = 0; i < picture.planes.size(); ++i) picture.planes[i] = static_cast<double>(i) / 17;
  picture.at(0, 0, 0) = -1;
  picture.at(2, 1, 2) = 7;
  ASSERT_TRUE(write_png(path.string(), picture));

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_file(&image, path.c_str()));
  image.format = PNG_FORMAT_RGB;
  ASSERT_EQ(image.width, 3U);
  ASSERT_EQ(image.height, 2U);
  std::vector<png_byte> pixels(PNG_IMAGE_SIZE(image));
  ASSERT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr));
  EXPECT_EQ(pixels[0], 0);            // clamped
  EXPECT_EQ(pixels[1], 90);           // green of the first pixel: 6 / 17 of 255
  EXPECT_EQ(pixels[3], 15);           // red of the second: 1 / 17
  EXPECT_EQ(pixels[3 * 5 + 2], 255);  // clamped
  std::filesystem::remove(path);
}

TEST(Picture, APngThatCannotBeWrittenIsAnError) {
  const auto written = write_png("no/such/folder/picture.png", Picture(1, 1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::io);
  EXPECT_FALSE(write_png("picture.png", Picture(0, 0)));
}

}  // namespace
}  // namespace convoke::demo
