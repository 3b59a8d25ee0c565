package dev.stoker.server.session.group;

/** A trainer's place in its group, whatever the run. */
record MemberId(int rank, int worker, int replica) {}
