# SPDX-License-Identifier: Apache-2.0 OR MIT
# Writes OUT (`#define CONVOKE_COMMIT "..."`) for the checkout at SOURCE. Runs in every build and touches the file only
# where the commit changed, so that nothing is rebuilt without cause.
execute_process(
  COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define CONVOKE_COMMIT \"${commit}\"\n")
