// SPDX-License-Identifier: Apache-2.0 OR MIT
// Everything: tensors, parameters, catalogs, demands, plans and what explains them.
#pragma once

#include "convoke/catalog.hpp"
#include "convoke/demand.hpp"
#include "convoke/error.hpp"
#include "convoke/explain.hpp"
#include "convoke/export.hpp"
#include "convoke/params.hpp"
#include "convoke/plan.hpp"
#include "convoke/rates.hpp"
#include "convoke/tensor.hpp"
#include "convoke/version.hpp"
