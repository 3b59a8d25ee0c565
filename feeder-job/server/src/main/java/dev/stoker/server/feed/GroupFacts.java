package dev.stoker.server.feed;

/**
 * What all nodes of a feed should agree on about a group; exchanged so that a group's spec and fences hold everywhere.
 *
 * @param stream the stream's name
 * @param group the group's name
 * @param order the group's order spec as canonical JSON, fixed by its first subscriber
 * @param run the greatest run seen
 * @param worldSize that run's world size
 */
public record GroupFacts(String stream, String group, String order, long run, int worldSize) {}
