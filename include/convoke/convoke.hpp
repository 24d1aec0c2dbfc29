// SPDX-License-Identifier: Apache-2.0 OR MIT
// Everything: tensors, parameters, catalogs, plans.
#pragma once

#include "convoke/catalog.hpp"
#include "convoke/error.hpp"
#include "convoke/export.hpp"
#include "convoke/params.hpp"
#include "convoke/plan.hpp"
#include "convoke/tensor.hpp"
#include "convoke/version.hpp"
