/** What all measurements share: rounds with their spread, latencies, and the description of the machine. No threads. */
package dev.stoker.bench.measure;
