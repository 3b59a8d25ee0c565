/**
 * The FLIP-27 source of the feeder: its splits are lanes, its records are ledger records. What trainers receive does not
 * pass through Flink at all.
 */
package dev.stoker.feeder.source;
