/**
 * The page of all measurements: a roofline, the limits of the feed, the accelerators that it feeds, and a sizing. Pure:
 * it computes from results alone, and writes no file. No threads.
 */
package dev.stoker.bench.report;
