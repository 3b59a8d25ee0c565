/**
 * The server of a node: the doorman accepts and authenticates, a session has one thread that reads what the trainer asks
 * and one that writes what it gets, in plain text or under TLS.
 *
 * <p>A malformed frame, a fault or a slow trainer concerns its own session only. Nothing is allocated from a declared length
 * before the length was checked.
 */
package dev.stoker.feeder.node.server;
