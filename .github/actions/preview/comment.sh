#!/usr/bin/env bash
# Shows the review in one comment of the pull request: later runs update the comment that
# has the same key and is by the same author. A token that may not comment, as that of a
# pull request from a fork, is a warning: the summary of the job has the review too.
set -euo pipefail

fail() { echo "::error::comment on the pull request: $1" >&2; exit 1; }
if [[ ${COMMENT:-} != true ]]; then exit 0; fi
if [[ -z ${NUMBER:-} ]]; then
  echo "::notice::no comment: this run is for no pull request"
  exit 0
fi
[[ $NUMBER =~ ^[0-9]+$ ]] || fail "$NUMBER is no number of a pull request"
[[ $KEY =~ ^[A-Za-z0-9._-]+$ ]] || fail 'the input comment-key takes letters, digits, dots, - and _'
for program in curl jq; do
  command -v "$program" >/dev/null || fail "$program is not on the PATH; install it in an earlier step, or set comment to false"
done

directory=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/kubectl-operator-comment.XXXXXX")
trap 'rm -rf "$directory"' EXIT
marker="<!-- kubectl-operator $KEY -->"
jq -n --arg marker "$marker" --rawfile review "$REVIEW" '{body: ($marker + "\n" + $review)}' >"$directory/body"

# api METHOD PATH [FILE] leaves the answer in $directory/answer and prints its status. The
# token is read from standard input: arguments are seen by every process of the machine.
api() {
  local data=()
  if [[ $# -gt 2 ]]; then data=(--data-binary "@$3" --header 'Content-Type: application/json'); fi
  printf 'header = "Authorization: Bearer %s"\n' "$TOKEN" |
    curl --config - --silent --show-error --max-time 60 --output "$directory/answer" --write-out '%{http_code}' \
      --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' \
      ${data[@]+"${data[@]}"} --request "$1" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY$2"
}

# expect STATUS WHAT GOT ends the step unless the answer has the status.
expect() {
  case $3 in
  "$1") ;;
  401 | 403 | 404)
    echo "::warning::no comment: $2 was answered with $3; give the job the permission pull-requests: write. The review is in the summary of the job."
    exit 0
    ;;
  *) fail "$2 was answered with $3: $(jq -r '.message? // empty' "$directory/answer" 2>/dev/null | head -c 200)" ;;
  esac
}

id=
for ((page = 1; page <= 100; page++)); do
  expect 200 'listing the comments' "$(api GET "/issues/$NUMBER/comments?per_page=100&page=$page")"
  id=$(jq -r --arg author "$AUTHOR" --arg marker "$marker" \
    'first(.[] | select(.user.login == $author and (.body // "" | startswith($marker))) | .id) // empty' "$directory/answer")
  if [[ -n $id || $(jq length "$directory/answer") -lt 100 ]]; then break; fi
done
if [[ -n $id ]]; then
  expect 200 'updating the comment' "$(api PATCH "/issues/comments/$id" "$directory/body")"
else
  expect 201 'writing the comment' "$(api POST "/issues/$NUMBER/comments" "$directory/body")"
fi
