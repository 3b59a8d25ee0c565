/**
 * The Java trainer client: {@link dev.stoker.client.FeedClient}, its builder and its batches. Does not use Flink. The
 * public types are here, in {@code errors} and in {@code stats}; the other packages are internal.
 */
package dev.stoker.client;
