/**
 * Pieces of batches and samples as records of a topic.
 */
package dev.stoker.feeder.topic.record;
