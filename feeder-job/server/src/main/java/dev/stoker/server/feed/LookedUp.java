package dev.stoker.server.feed;

/**
 * Requests for single samples that a node has received since it started.
 *
 * @param requests for samples, places or listings
 * @param keys keys that these requests asked for
 * @param bytes bytes of the answers, headers included
 */
public record LookedUp(long requests, long keys, long bytes) {}
