# Finds the JDK for mvnw and the launchers; POSIX sh, to be sourced. `stoker_java` sets STOKER_JAVA or ends the
# script with one line that says what is lacking. The version is read from the JDK's own `release` file, so that
# the check costs no start of a JVM.

stoker_java_fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

stoker_java() {
  if [ -n "${JAVA_HOME-}" ]; then
    STOKER_JAVA=$JAVA_HOME/bin/java
    [ -x "$STOKER_JAVA" ] && [ -x "$JAVA_HOME/bin/javac" ] ||
      stoker_java_fail "JAVA_HOME is \"$JAVA_HOME\", which holds no JDK (no bin/javac):" \
        "set it to a JDK of version 17 or newer, or unset it"
    stoker_java_home=$JAVA_HOME
  else
    STOKER_JAVA=$(command -v java) ||
      stoker_java_fail "no JDK found: install one of version 17 or newer" \
        "(Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"
    stoker_java_home=$(readlink -f "$STOKER_JAVA" 2>/dev/null) || stoker_java_home=
    stoker_java_home=${stoker_java_home%/bin/java}
    command -v javac >/dev/null ||
      stoker_java_fail "\"$STOKER_JAVA\" is a Java runtime without compiler: install a JDK of version 17 or newer" \
        "(Debian: apt-get install openjdk-17-jdk-headless) or set JAVA_HOME"
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
      "install a JDK of version 17 or newer or set JAVA_HOME to one"
  [ "$stoker_java_major" -ge 17 ] ||
    stoker_java_fail "\"$STOKER_JAVA\" is Java $stoker_java_version, version 17 or newer is needed:" \
      "install one or set JAVA_HOME to it"
}
