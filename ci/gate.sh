#!/usr/bin/env bash
# The gate that action.yml and ci/gitlab.yml run: install, audit, report, compare with the baseline. docs/ci.md explains what is set.
# The exit code is the worst of the steps as `dpassay run` ranks them, and of what the record says, should a process be killed. 1 says that a claim is refuted, so what fails before the audit leaves
# with 2. Where the baseline is checked, what suppressions let pass there does not count. No variable here may be called DPASSAY_...: those are read as configuration.
read -r -d '' -a project <<< "$GATE_INSTALL"
read -r -d '' -a targets <<< "$GATE_TARGETS"
read -r -d '' -a arguments <<< "$GATE_ARGUMENTS"
read -r -d '' -a attack <<< "$GATE_ATTACK"
read -r -d '' -a theorems <<< "${GATE_THEOREMS-}"
out=${GATE_OUT:-report}
baseline=${GATE_BASELINE:-skip}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}
outputs=${GITHUB_OUTPUT:-/dev/null}
dpassay=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

finish() { # the exit code, and why
  printf '**dpassay: exit code %s**, %s\n\n' "$1" "$2" | tee -a "$summary"
  sed 's/^/    /' "$why" >> "$summary"
  printf '\n' >> "$summary"
  for page in "$out"/{report,comparison,attack/comparison,attack/attack,theorems/comparison}.md; do
    if [ "$recorded" ] && [ -f "$page" ]; then add "$page"; fi
  done
  printf 'exit-code=%s\n' "$1" >> "$outputs"
  if [ "$recorded" ]; then printf 'folder=%s\nrecord=%s\n' "$(cd "$out" && pwd)" "$(cd "$out" && pwd)/record.json" >> "$outputs"; fi
  exit "$1"
}

add() { # a page, where it leaves the summary below the 1 MiB that GitHub shows
  if [ $(($(wc -c < "$summary") + $(wc -c < "$1"))) -lt 1048000 ]; then
    { cat "$1" && echo; } >> "$summary"
  else
    printf '%s is too long for this page, it is in the artifact.\n\n' "\`$(basename "$1")\`" >> "$summary"
  fi
}

worst() { # of two exit codes; one that dpassay has not, of a process that was killed, goes before 0 only
  local code
  for code in 2 1 3 4 5; do
    if [ "$1" = "$code" ] || [ "$2" = "$code" ]; then return "$code"; fi
  done
  return $(($1 > $2 ? $1 : $2))
}

recorded='' why=$(mktemp) # why the baseline was refused, such as a mechanism that has another name
case $baseline in
  check | skip) ;;
  *) finish 2 "baseline = '$baseline': must be check or skip" ;;
esac
case $out${GATE_DIRECTORY-} in
  *[[:cntrl:]]*) finish 2 "out and working-directory: must hold no line breaks or other control characters" ;;
esac
cd "${GATE_DIRECTORY:-.}" || finish 2 "there is no folder '$GATE_DIRECTORY'"
pip install --quiet "$dpassay" "${project[@]}" || finish 2 "the installation failed: see the log"

export PYTHONSAFEPATH=1 # no step imports what the audited code may have left in this folder
allowed=()
for word in "${arguments[@]}"; do
  if [ "$word" = --allow-inconclusive ]; then allowed=("$word"); fi
done

rm -f "$out"/{record.json,report.md,junit.xml,comparison.{md,json,xml},results.sarif,comment.md} # an earlier run's must not pass for ours
dpassay run --configured "${targets[@]}" "${arguments[@]}" --out "$out"
code=$?
if [ -f "$out/record.json" ]; then
  recorded=yes
  dpassay report "$out/record.json" --format junit,md,sarif,comment -o "$out" --exit-code "${allowed[@]}"
  said=$?
  if [ "$baseline" = check ]; then
    { dpassay baseline check "$out/record.json" -o "$out" 2>&1 1>&3 | tee "$why" >&2; checked=${PIPESTATUS[0]}; } 3>&1
    if [ "$checked" = 0 ] && [ "$code" = "$said" ] && { [ "$said" = 1 ] || [ "$said" = 3 ]; }; then
      code=0 said=0 # every refutation and failure of the record is let pass, or the check would not have been green
      if [ ${#allowed[@]} = 0 ] && grep -q '^      "verdict": "inconclusive"' "$out/record.json"; then said=4; fi
    fi
    worst $code "$checked"
    code=$?
  fi
  worst $code $said
  code=$?
fi
if [ ${#attack[@]} != 0 ]; then # on its own record, with a baseline of its own
  allowed=()
  for word in "${attack[@]}"; do
    if [ "$word" = --allow-inconclusive ]; then allowed=("$word"); fi
  done
  rm -f "$out"/attack/{attack.{json,html,md,xml},records.csv.gz,comparison.{md,json,xml}}
  dpassay attack "${attack[@]}" --out "$out/attack"
  attacked=$?
  if [ -f "$out/attack/attack.json" ]; then
    dpassay report "$out/attack/attack.json" -o "$out/attack" --exit-code "${allowed[@]}"
    worst $attacked $?
    attacked=$?
    if [ "$baseline" = check ]; then
      dpassay baseline check "$out/attack/attack.json" -o "$out/attack"
      worst $attacked $?
      attacked=$?
    fi
  elif [ $attacked = 0 ]; then
    attacked=2 # nothing was attacked
  fi
  worst $code $attacked
  code=$?
fi
if [ ${#theorems[@]} != 0 ]; then # the same for theorems, whose checks run no code of the project
  rm -f "$out"/theorems/{theorems.{json,html,xml},comparison.{md,json,xml}}
  dpassay theorem run "${theorems[@]}" -q --out "$out/theorems"
  proven=$?
  if [ "$baseline" = check ] && [ -f "$out/theorems/theorems.json" ]; then
    dpassay baseline check "$out/theorems/theorems.json" -o "$out/theorems"
    worst $proven $?
    proven=$?
  fi
  worst $code $proven
  code=$?
fi
case $code in
  0) if [ "$recorded" ]; then finish 0 "nothing was found"; else finish 2 "nothing was audited: no record was written"; fi ;;
  1) finish 1 "a claim is refuted or broken, or the accepted baseline was better" ;;
  2) finish 2 "wrong usage or configuration, nothing configured, or a baseline that is missing or stale: see the log" ;;
  3) finish 3 "a mechanism or the harness failed" ;;
  4) finish 4 "inconclusive: the audit could not see enough" ;;
  5) finish 5 "nothing was audited" ;;
  *) finish "$code" "the audit did not come to an end: see the log" ;;
esac
