#!/usr/bin/env bash
# Makes one plan, in every form that the other steps need. A plan that --fail-on refuses
# is shown like any other: its exit code is an output, and the last step ends with it.
set -euo pipefail

fail() { echo "::error::kubectl-operator preview: $1" >&2; exit 1; }
command -v kubectl-operator >/dev/null || fail 'kubectl-operator is not on the PATH; run the action "setup" in an earlier step'
command -v jq >/dev/null || fail 'jq is not on the PATH; install it in an earlier step'
[[ -n ${REFERENCE:-} || -n ${FILENAME:-} ]] || fail 'set the input reference or filename'

if [[ -z ${HOME:-} && -z ${XDG_CACHE_HOME:-} ]]; then export XDG_CACHE_HOME=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/cache; fi
directory=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/kubectl-operator-preview.XXXXXX")
call=(preview -o json --report "markdown=$directory/review.md" --report "sarif=$directory/review.sarif")
if [[ -n ${PLAN:-} ]]; then call+=(--out "$PLAN"); fi
if [[ -n ${FAIL_ON:-} ]]; then call+=(--fail-on "$FAIL_ON"); fi
if [[ -n ${FILENAME:-} ]]; then call+=(--filename "$FILENAME"); fi
while IFS= read -r line; do
  line=${line%$'\r'}
  if [[ -n $line ]]; then call+=("$line"); fi
done <<<"${ARGUMENTS:-}"
if [[ -n ${REFERENCE:-} ]]; then call+=(-- "$REFERENCE"); fi
if [[ -n ${NAME:-} ]]; then call+=("$NAME"); fi

code=0
kubectl-operator "${call[@]}" >"$directory/review.json" 2>"$directory/messages" </dev/null || code=$?
cat "$directory/messages" >&2
# 5 is a plan that --fail-on refuses, 2 one that changes something with --detailed-exitcode.
if [[ $code != 0 && $code != 2 && $code != 5 ]] || [[ ! -s $directory/review.json ]]; then
  exit "$((code == 0 ? 1 : code))"
fi

digest() { jq -er ".$1 | select(test(\"^sha256:[0-9a-f]{64}\$\"))" "$directory/review.json"; }
plan=${PLAN:-}
if [[ $plan == oci://* ]]; then plan=$(sed -n 's/^plan saved as \(oci:.*@sha256:[0-9a-f]*\)$/\1/p' "$directory/messages"); fi
{
  echo "digest=$(digest digest)"
  echo "content-digest=$(digest contentDigest)"
  echo "ruleset=$(jq -er .ruleset "$directory/review.json")"
  echo "plan=${plan//[$'\r\n']/}"
  echo "markdown=$directory/review.md"
  echo "sarif=$directory/review.sarif"
  echo "json=$directory/review.json"
  echo "exit-code=$code"
} >>"$GITHUB_OUTPUT"
if [[ ${SUMMARY:-} == true ]]; then cat "$directory/review.md" >>"$GITHUB_STEP_SUMMARY"; fi
jq -r '.verdict.sentence // empty | gsub("[[:cntrl:]]"; " ")' "$directory/review.json"
