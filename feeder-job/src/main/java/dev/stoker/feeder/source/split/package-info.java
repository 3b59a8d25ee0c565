/** The split of the feeder's source, a lane, and its versioned serializer. Values only: no threads, no I/O. */
package dev.stoker.feeder.source.split;
