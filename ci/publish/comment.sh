#!/usr/bin/env bash
# One comment on a pull request: an earlier one of ours, known by its first line, is replaced.
set -euo pipefail
name=$(printf '%s' "$COMMENT_NAME" | tr -c 'A-Za-z0-9._-' '-')
marker="<!-- dpassay $name -->"
of="repos/$GITHUB_REPOSITORY/issues"
body=$(mktemp)
{ printf '%s\n' "$marker" && cat "$COMMENT_FILE"; } > "$body"
ours=".[] | select(.user.login == \"github-actions[bot]\" and (.body | startswith(\"$marker\"))) | .id"
ids=$(gh api --paginate "$of/$COMMENT_NUMBER/comments" --jq "$ours")
id=${ids%%$'\n'*}
if [ "$id" ]; then
  gh api --silent --method PATCH "$of/comments/$id" --field "body=@$body"
else
  gh api --silent --method POST "$of/$COMMENT_NUMBER/comments" --field "body=@$body"
fi
