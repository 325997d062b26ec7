# Runs a compiler and keeps what ptxas says of each kernel beside the object; the rest is passed on.
#   sh keep_report.sh OBJECT COMPILER ARGUMENTS...
# SPDX-License-Identifier: MIT
report=$1.report
shift
"$@" 2>"$report"
result=$?
grep -v -e '^ptxas info' -e '^    [0-9]* bytes stack frame' "$report" >&2
exit $result
