# Shared by the launchers (stoker, quickstart, python/env); bash, to be sourced.

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# lock FILE WHO: holds FILE until `unlock` or the end of the script; says that it waits for WHO.
lock() {
  mkdir -p -- "${1%/*}"
  command -v flock >/dev/null || return 0
  exec 9>"$1"
  if ! flock -n 9; then
    printf '%s: waiting for %s to finish …\n' "${0##*/}" "$2" >&2
    until flock -w 5 9; do printf '%s: still waiting for %s …\n' "${0##*/}" "$2" >&2; done
  fi
}

unlock() { exec 9>&-; }

# with_progress LOG TITLE COMMAND…: runs the command with its output in LOG and says that, how long and with what it is
# busy: on a terminal in one line, elsewhere in a line every few seconds. Ends the script with the command's first
# error line when it fails.
with_progress() {
  local log=$1 title=$2 pid status=0 start=$SECONDS every=5 next at
  shift 2
  mkdir -p -- "${log%/*}"
  : >"$log"
  if [ -t 2 ]; then every=1; fi
  next=$every
  at=
  report "$title …"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  # A background job of a script ignores Ctrl-C, so it is ended from here.
  trap 'kill -TERM "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true; report_end
    printf "%s: interrupted\n" "${0##*/}" >&2; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    read -r -t 0.2 <> <(:) || true
    if ((SECONDS - start >= next)); then
      next=$((SECONDS - start + every))
      at=$(tail -n 30 -- "$log" | sed -n -e 's/^\[INFO\] Building \(Stoker[^[]*[^ [0-9]\).*/\1/p' \
        -e 's/^ *\(Downloading [^ ]*\).*/\1/p; s/^\(Installing\|Building\|Preparing\) .*/\1/p' | tail -n 1) || true
      report "$title … $((SECONDS - start)) s${at:+, $at}"
    fi
  done
  wait "$pid" || status=$?
  trap - INT TERM
  report_end
  if ((status != 0)); then
    at=$(grep -E '^(\[ERROR\]|ERROR|error|[A-Za-z]*Error:|mvnw: )' -- "$log" |
      grep -vE '^\[ERROR\] *($|->|COMPILATION ERROR|To see|Re-run|For more|\[Help)' | head -n 1) || true
    fail "$title failed${at:+: $at} (all of it is in $log)"
  fi
}

report() {
  if [ -t 2 ]; then
    # Cut to the terminal's width, as a line that wraps cannot be written over.
    printf '\r\033[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "${0##*/}: $1" >&2
  else
    printf '%s: %s\n' "${0##*/}" "$*" >&2
  fi
}

report_end() { if [ -t 2 ]; then printf '\n' >&2; fi; }
