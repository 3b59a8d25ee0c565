/**
 * A client of schema registries. Its calls wait for the registry. This package has no threads.
 */
package dev.stoker.connectors.kafka.registry;
