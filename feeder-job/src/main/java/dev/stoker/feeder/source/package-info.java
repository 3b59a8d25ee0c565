/**
 * The FLIP-27 source of the feeder. Its splits are lanes and its records are ledger records. The data for trainers does
 * not pass through Flink.
 */
package dev.stoker.feeder.source;
