/**
 * What accelerators ask for: the shapes of the public MLPerf Storage workloads, and emulated accelerators that consume
 * a feed. Each emulated accelerator has a thread.
 */
package dev.stoker.bench.demand;
