/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A stranger's C program: a transposed convolution checked by hand, a plan with its kernel's name, and a refusal whose
   text and rule can be asked for. */
#include <convoke/convoke.h>
#include <stdio.h>
#include <string.h>

static int spread_is_right(void) {
  const int64_t x_shape[4] = {1, 1, 1, 2}, weight_shape[4] = {1, 1, 1, 2}, out_shape[4] = {1, 1, 1, 4};
  float x[2] = {1, 2}, weight[2] = {10, 1}, out[4] = {0};
  const float want[4] = {10, 1, 20, 2};
  const convoke_tensor tx = convoke_dense_tensor(x, CONVOKE_DTYPE_F32, 4, x_shape);
  const convoke_tensor tw = convoke_dense_tensor(weight, CONVOKE_DTYPE_F32, 4, weight_shape);
  const convoke_tensor tout = convoke_dense_tensor(out, CONVOKE_DTYPE_F32, 4, out_shape);
  convoke_conv_transpose2d_params params = convoke_default_conv_transpose2d_params();
  params.stride[1] = 2;
  if (convoke_conv_transpose2d(&tx, &tw, NULL, &tout, &params, 1) != CONVOKE_SUCCESS) {
    fprintf(stderr, "%s\n", convoke_last_error_message());
    return 0;
  }
  return memcmp(out, want, sizeof want) == 0;
}

static int plan_names_its_kernel(void) {
  const int64_t shape[4] = {1, 1, 2, 2}, weight_shape[4] = {1, 1, 1, 1};
  double x[4] = {1, 2, 3, 4}, weight[1] = {3}, out[4] = {0};
  const convoke_tensor tx = convoke_dense_tensor(x, CONVOKE_DTYPE_F64, 4, shape);
  const convoke_tensor tw = convoke_dense_tensor(weight, CONVOKE_DTYPE_F64, 4, weight_shape);
  const convoke_tensor tout = convoke_dense_tensor(out, CONVOKE_DTYPE_F64, 4, shape);
  convoke_plan* plan = NULL;
  int good = convoke_plan_conv2d(&tx, &tw, NULL, &tout, NULL, NULL, &plan) == CONVOKE_SUCCESS &&
             convoke_plan_run(plan, &tx, &tw, NULL, &tout, 0, NULL, 0) == CONVOKE_SUCCESS &&
             strncmp(convoke_plan_kernel(plan), "cpu/", 4) == 0 && out[0] == 3 && out[3] == 12;
  convoke_plan_destroy(plan);
  return good;
}

static int bad_groups_are_refused_by_name(void) {
  const int64_t x_shape[4] = {1, 3, 4, 4}, weight_shape[4] = {2, 1, 1, 1};
  int64_t out_shape[4];
  convoke_conv2d_params params = convoke_default_conv2d_params();
  params.groups = 2;
  return convoke_conv2d_output_shape(x_shape, weight_shape, &params, out_shape) != CONVOKE_SUCCESS &&
         convoke_last_error_code() != 0 && strcmp(convoke_last_error_rule(), "groups") == 0 &&
         strstr(convoke_last_error_message(), "2") != NULL;
}

int main(void) {
  if (!spread_is_right()) return 1;
  if (!plan_names_its_kernel()) return 2;
  if (!bad_groups_are_refused_by_name()) return 3;
  return 0;
}
