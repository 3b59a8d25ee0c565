# Builds the command in a source tree; bash, to be sourced after launch.sh. Needs $root.

# build_if_needed VERB: builds the command into cli/target/dist when it is not there or older than its sources. The verb
# sql needs Flink's SQL client, 110 MB, too.
build_if_needed() {
  local modules=cli,client more=()
  [ "${1-}" != sql ] || { modules+=,connectors/sql && more=(-Psql); }
  up_to_date "${1-}" && return
  [ -x "$root/mvnw" ] || fail "there is no build of the command, and no mvnw in $root to make one"
  lock "$root/target/build.lock" "another build"
  if ! up_to_date "${1-}"; then
    local title="building (first use)"
    [ ! -f "$root/cli/target/dist/built" ] || title="building (the sources have changed)"
    ! up_to_date run || title="adding Flink's SQL client (110 MB)"
    with_progress "$root/target/build.log" "$title" \
      "$root/mvnw" -f "$root/pom.xml" -B -ntp -Dfast -DskipTests "${more[@]}" -pl "$modules" -am package
  fi
  unlock
}

# has_datasets_directory ARGUMENT…: whether the directory that `stoker sql` is to read exists, or is a URI.
has_datasets_directory() {
  while [ $# -gt 0 ]; do
    case "$1" in
      -e | -f | -D | --execute | --file | --set) shift ;;
      -*) ;;
      *://*) return 0 ;;
      *) [ -d "$1" ]; return ;;
    esac
    [ $# -eq 0 ] || shift
  done
}

# Any module may hold sources of the command but these three. Tests run commands through the CommandServer.
up_to_date() {
  local stamp=$root/cli/target/dist/built newer
  [ -f "$stamp" ] || return 1
  [ "${1-}" != sql ] || [ -d "${stamp%/*}/sql" ] || return 1
  newer=$(find "$root"/pom.xml "$root"/*/pom.xml "$root"/*/*/pom.xml "$root"/*/src/main "$root"/*/*/src/main \
    "$root/cli/launcher" \
    "$root"/cli/src/test/java/dev/stoker/cli/{CommandServer,Footprint}.java -newer "$stamp" \
    ! -path "$root/benchmarks/*" ! -path "$root/examples/*" ! -path "$root/python/*" -print -quit 2>/dev/null) || true
  [ -z "$newer" ]
}
