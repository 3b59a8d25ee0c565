/**
 * The split of the feeder's source, a lane, and its versioned serializer. Contains only values: no threads, no I/O.
 */
package dev.stoker.feeder.source.split;
