/**
 * The events between the readers and the enumerator of the lane source. Flink sends these events over its own RPC and
 * never checkpoints them, so they contain only strings and numbers.
 */
package dev.stoker.feeder.source.event;
