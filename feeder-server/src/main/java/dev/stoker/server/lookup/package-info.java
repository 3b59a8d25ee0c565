/**
 * Answers requests for single samples: places, values and listings. It finds keys with the sample index, and reads
 * chunks through the feeder's tiers. The thread that sends the answer does all the work; this package starts no
 * threads. It knows neither sessions nor connections.
 */
@NullMarked
package dev.stoker.server.lookup;

import org.jspecify.annotations.NullMarked;
