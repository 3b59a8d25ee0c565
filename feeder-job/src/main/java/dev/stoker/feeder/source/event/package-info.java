/**
 * What readers and the enumerator of the lane source tell each other. Flink carries these events by its own RPC and
 * never checkpoints them, so they hold strings and numbers only.
 */
package dev.stoker.feeder.source.event;
