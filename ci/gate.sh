#!/usr/bin/env bash
# The gate that action.yml and ci/gitlab.yml run: install, audit, report, compare with the baseline. docs/ci.md explains what is set.
# The exit code is the worst of the steps as `dpassay run` ranks them. 1 says that a claim is refuted, so what fails before the
# audit leaves with 2. No variable here may be called DPASSAY_...: those are read as configuration.
read -r -d '' -a project <<< "$GATE_INSTALL"
read -r -d '' -a targets <<< "$GATE_TARGETS"
read -r -d '' -a arguments <<< "$GATE_ARGUMENTS"
out=${GATE_OUT:-report}
baseline=${GATE_BASELINE:-skip}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}
outputs=${GITHUB_OUTPUT:-/dev/null}
dpassay=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

finish() { # the exit code, and why
  printf '**dpassay: exit code %s**, %s\n\n' "$1" "$2" | tee -a "$summary"
  for page in "$out/report.md" "$out/comparison.md"; do
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
    printf '`%s` is too long for this page, it is in the artifact.\n\n' "$(basename "$1")" >> "$summary"
  fi
}

worst() { # of two exit codes; one that dpassay has not, of a process that was killed, goes before 0 only
  for code in 2 1 3 4 5; do
    if [ "$1" = "$code" ] || [ "$2" = "$code" ]; then return "$code"; fi
  done
  return $(($1 > $2 ? $1 : $2))
}

recorded=
case $baseline in
  check | skip) ;;
  *) finish 2 "baseline = '$baseline': must be check or skip" ;;
esac
cd "${GATE_DIRECTORY:-.}" || finish 2 "there is no folder '$GATE_DIRECTORY'"
pip install --quiet "$dpassay" "${project[@]}" || finish 2 "the installation failed: see the log"

if [ ${#targets[@]} = 0 ] && dpassay config --show 2> /dev/null | grep -Eq '^mechanisms +the catalogue'; then
  finish 2 "nothing of this project would be audited: no mechanism is configured, no target given"
fi

rm -f "$out"/{record.json,report.md,junit.xml,comparison.md,comparison.json} # an earlier run's must not pass for this one's
dpassay run "${targets[@]}" "${arguments[@]}" --out "$out"
code=$?
if [ -f "$out/record.json" ]; then
  recorded=yes
  dpassay report "$out/record.json" --format junit,md -o "$out"
  worst $code $?
  code=$?
  if [ "$baseline" = check ]; then
    dpassay baseline check "$out/record.json" -o "$out"
    worst $code $?
    code=$?
  fi
fi
case $code in
  0) if [ "$recorded" ]; then finish 0 "nothing was found"; else finish 2 "nothing was audited: no record was written"; fi ;;
  1) finish 1 "a claim is refuted, or the accepted baseline was better" ;;
  2) finish 2 "wrong usage or configuration, or a baseline that is missing or stale: see the log" ;;
  3) finish 3 "a mechanism or the harness failed" ;;
  4) finish 4 "inconclusive: the audit could not see enough" ;;
  5) finish 5 "nothing was audited" ;;
  *) finish "$code" "the audit did not come to an end: see the log" ;;
esac
