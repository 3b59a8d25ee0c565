package dev.stoker.feeder.node.server;

/** A trainer's place in its group, whatever the run. */
record Seat(int rank, int worker, int replica) {}
