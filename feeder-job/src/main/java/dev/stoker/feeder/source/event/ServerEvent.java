package dev.stoker.feeder.source.event;

import org.apache.flink.api.connector.source.SourceEvent;

/**
 * Reader to enumerator: the server of this reader's process answers at an address.
 *
 * @param address {@code host:port} as trainers reach it
 * @param host host used for placement
 */
public record ServerEvent(String address, String host) implements SourceEvent {}
