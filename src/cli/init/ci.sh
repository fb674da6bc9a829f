#!/bin/sh
# The steps of CI, the same on every forge and on a laptop:
#   sh .carp/ci.sh install [DIR]  puts carp into DIR and prints DIR
#   sh .carp/ci.sh plan           validates and plans; leaves plan.md and carp.sarif
#   sh .carp/ci.sh comment        shows plan.md as carp's one comment on the pull or merge request
#   sh .carp/ci.sh reconcile      one turn of the reconciler, which tells the forge
#   sh .carp/ci.sh staged         validates what is about to be committed
# Exits as carp does: 0 fine, 1 findings or failure, 3 a guard holds something. GitHub knows only right and
# wrong, so what is held is a warning there.
set -eu
marker='<!-- carp plan -->'

checksum() {
  if command -v sha256sum > /dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

install_carp() {
  . "$(dirname "$0")/carp.env"
  to=${1:-$HOME/.cache/carp-bin}
  mkdir -p "$to"
  if [ -n "$CARP_URL" ]; then
    if [ ! -x "$to/carp" ] || [ "$(checksum "$to/carp")" != "$CARP_SHA256" ]; then
      curl --fail --silent --show-error --location --retry 3 --output "$to/carp.new" "$CARP_URL"
      found=$(checksum "$to/carp.new")
      if [ "$found" != "$CARP_SHA256" ]; then
        rm "$to/carp.new"
        echo "error: $CARP_URL has the checksum $found; .carp/carp.env wants $CARP_SHA256" >&2
        exit 1
      fi
      chmod +x "$to/carp.new"
      mv "$to/carp.new" "$to/carp"
    fi
  elif [ -n "$CARP_GIT_URL" ]; then
    source="$CARP_GIT_URL at $CARP_REV"
    if [ "$(cat "$to/built-from" 2> /dev/null || true)" != "$source" ]; then
      cargo install --locked --git "$CARP_GIT_URL" --rev "$CARP_REV" --root "$to/build" carp >&2
      mv "$to/build/bin/carp" "$to/carp"
      rm -r "$to/build"
      echo "$source" > "$to/built-from"
    fi
  else
    echo "error: .carp/carp.env names no carp: set CARP_URL and CARP_SHA256, or CARP_GIT_URL and CARP_REV" >&2
    exit 1
  fi
  echo "$to"
}

# Ends with what is worse, and tells GitHub.
verdict() {
  if [ "$1" -eq 3 ] && [ -n "${GITHUB_ACTIONS:-}" ]; then
    echo "::warning title=carp::a guard holds something; the plan says what, and people decide"
    exit 0
  fi
  exit "$1"
}

# What the change is merged into: of a pull request, of a merge queue (`refs/heads/main`), of a merge request.
target() {
  queue=${QUEUE_BASE:-}
  echo "${GITHUB_BASE_REF:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-${queue#refs/heads/}}}"
}

# What a step leaves here is no part of the change: Git is told so, in this clone alone.
leaves() {
  excluded=$(git rev-parse --git-path info/exclude 2> /dev/null) || return 0
  mkdir -p "$(dirname "$excluded")"
  for file; do
    line="/$(git rev-parse --show-prefix)$file"
    grep -qxF "$line" "$excluded" 2> /dev/null || echo "$line" >> "$excluded"
  done
}

plan() {
  . "$(dirname "$0")/carp.env"
  export CARP_DOCS_URL
  leaves plan.md carp.sarif
  format=text
  if [ -n "${GITHUB_ACTIONS:-}" ]; then format=github; fi
  # Only what the change causes is shown; without a target all that a run would do.
  into=$(target)
  if [ -n "$into" ]; then set -- --against "origin/$into"; else set --; fi
  found=0 planned=0
  carp validate "$@" --output "$format" || found=$?
  carp validate "$@" --output sarif > carp.sarif || true
  # A queue has merged what goes before already, and what is fine alone may not be so together.
  if [ -n "${QUEUE_BASE:-}" ] || [ "${CI_MERGE_REQUEST_EVENT_TYPE:-}" = merge_train ]; then
    set -- "$@" --fail-on waiting,violated
  fi
  carp plan "$@" --output markdown > plan.md || planned=$?
  cat plan.md >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
  if [ "$found" -ne 0 ]; then verdict "$found"; fi
  verdict "$planned"
}

call() {
  curl --fail --silent --show-error --retry 3 --header "$token" --header 'Content-Type: application/json' "$@"
}

comment() {
  if [ ! -s plan.md ]; then exit 0; fi
  if [ -n "${GITHUB_ACTIONS:-}" ]; then
    repository="$GITHUB_API_URL/repos/$GITHUB_REPOSITORY"
    all="$repository/issues/$NUMBER/comments" each="$repository/issues/comments" edit=PATCH
    token="Authorization: Bearer $GH_TOKEN"
    # The token of a workflow may not ask whose it is. Its comments are by this account; CARP_LOGIN says another.
    me='github-actions[bot]'
    if [ -n "${GITEA_ACTIONS:-}" ]; then me=gitea-actions; fi
    if [ -n "${FORGEJO_ACTIONS:-}" ]; then me=forgejo-actions; fi
    me=${CARP_LOGIN:-$me}
  else
    all="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
    each=$all edit=PUT
    token="PRIVATE-TOKEN: $CARP_TOKEN"
    me=$(call "$CI_API_V4_URL/user" | jq -r .username)
  fi
  # Anybody can write the marker: what somebody else wrote is theirs.
  own='.body | startswith($marker)' by='(.user.login // .author.username) == $me'
  # GitHub and GitLab read `per_page`, Gitea and Forgejo `limit`; what knows no pages gives all comments for each.
  page=1 id= before=
  while [ -z "$id" ]; do
    listed=$(call "$all?per_page=50&limit=50&page=$page")
    first=$(printf '%s' "$listed" | jq -r '.[0].id // empty')
    if [ "$first" = "$before" ]; then break; fi
    id=$(printf '%s' "$listed" |
      jq -r --arg marker "$marker" --arg me "$me" "[.[] | select(($own) and ($by))] | first | .id // empty")
    page=$((page + 1)) before=$first
  done
  body=$(mktemp)
  { echo "$marker"; cat plan.md; } | jq --raw-input --slurp '{body: .}' > "$body"
  if [ -n "$id" ]; then
    call --request "$edit" --data "@$body" "$each/$id" > /dev/null
  else
    call --request POST --data "@$body" "$all" > /dev/null
  fi
  rm "$body"
}

reconcile() {
  code=0
  # The forge is told how the commit fared, where there is a token that may.
  if [ -n "${GITHUB_ACTIONS:-}" ] && [ -n "${CARP_FORGE_TOKEN:-}" ]; then
    set -- --forge github --forge-url "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"
  elif [ -n "${CI_PROJECT_URL:-}" ] && [ -n "${CARP_TOKEN:-}" ]; then
    export CARP_FORGE_TOKEN="$CARP_TOKEN"
    set -- --forge gitlab --forge-url "$CI_PROJECT_URL"
  fi
  carp reconcile --once "$@" || code=$?
  verdict "$code"
}

staged() {
  tree=$(mktemp -d)
  trap 'rm -rf "$tree"' EXIT
  git checkout-index --all --prefix="$tree/"
  # What a hook is given would lead carp back to the repository.
  unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX
  cd "$tree"
  carp validate
}

case ${1:-} in
  install) shift; install_carp "$@" ;;
  plan) plan ;;
  comment) comment ;;
  reconcile) shift; reconcile "$@" ;;
  staged) staged ;;
  *) sed -n '2,9s/^# //p' "$0" >&2; exit 64 ;;
esac
