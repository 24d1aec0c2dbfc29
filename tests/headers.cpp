// SPDX-License-Identifier: Apache-2.0 OR MIT
// Nothing: its target carries the precompiled headers of the tests.
