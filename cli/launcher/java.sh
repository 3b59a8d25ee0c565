# Finds Java for mvnw and the launchers; POSIX sh, to be sourced. `stoker_java` sets STOKER_JAVA or ends the script
# with one line that says what is lacking; `stoker_java runtime` needs no compiler. The version is read from Java's own
# `release` file, so that the check costs no start of a JVM.

stoker_java_fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

stoker_java() {
  if [ "${1-}" = runtime ]; then
    stoker_java_kind=Java stoker_java_package=openjdk-17-jre-headless
  else
    stoker_java_kind="a JDK" stoker_java_package=openjdk-17-jdk-headless
  fi
  if [ -n "${JAVA_HOME-}" ]; then
    STOKER_JAVA=$JAVA_HOME/bin/java
    if [ "${1-}" = runtime ]; then
      [ -x "$STOKER_JAVA" ] ||
        stoker_java_fail "JAVA_HOME is \"$JAVA_HOME\", which holds no Java (no bin/java):" \
          "set it to Java of version 17 or newer, or unset it"
    else
      [ -x "$STOKER_JAVA" ] && [ -x "$JAVA_HOME/bin/javac" ] ||
        stoker_java_fail "JAVA_HOME is \"$JAVA_HOME\", which holds no JDK (no bin/javac):" \
          "set it to a JDK of version 17 or newer, or unset it"
    fi
    stoker_java_home=$JAVA_HOME
  else
    STOKER_JAVA=$(command -v java) ||
      stoker_java_fail "no ${stoker_java_kind#a } found: install one of version 17 or newer" \
        "(Debian: apt-get install $stoker_java_package) or set JAVA_HOME"
    stoker_java_home=$(readlink -f "$STOKER_JAVA" 2>/dev/null) || stoker_java_home=
    stoker_java_home=${stoker_java_home%/bin/java}
    [ "${1-}" = runtime ] || command -v javac >/dev/null ||
      stoker_java_fail "\"$STOKER_JAVA\" is a Java runtime without compiler: install a JDK of version 17 or newer" \
        "(Debian: apt-get install $stoker_java_package) or set JAVA_HOME"
  fi
  stoker_java_version=$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$stoker_java_home/release" 2>/dev/null) ||
    stoker_java_version=
  if [ -z "$stoker_java_version" ]; then
    stoker_java_version=$("$STOKER_JAVA" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/\1/p') ||
      stoker_java_version=
  fi
  stoker_java_major=${stoker_java_version#1.}
  stoker_java_major=${stoker_java_major%%[!0-9]*}
  [ -n "$stoker_java_major" ] ||
    stoker_java_fail "\"$STOKER_JAVA\" does not say its version:" \
      "install $stoker_java_kind of version 17 or newer or set JAVA_HOME to it"
  [ "$stoker_java_major" -ge 17 ] ||
    stoker_java_fail "\"$STOKER_JAVA\" is Java $stoker_java_version, version 17 or newer is needed:" \
      "install one or set JAVA_HOME to it"
}
