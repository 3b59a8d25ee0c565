/**
 * Answers requests for single samples: places, values and listings. It finds keys with the sample index, and reads
 * chunks through the feeder's tiers. The thread that sends the answer does the work; a few threads read parts of far
 * chunks beside it. This package knows neither sessions nor connections.
 */
@NullMarked
package dev.stoker.server.lookup;

import org.jspecify.annotations.NullMarked;
