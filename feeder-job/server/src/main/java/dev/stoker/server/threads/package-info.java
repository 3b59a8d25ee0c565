/**
 * Threads, locks and time of the feeder, for code that can wait for long. Production code uses those of the machine.
 * The simulator passes in threads that run one at a time on a virtual clock. This package depends on nothing else in
 * the feeder.
 */
package dev.stoker.server.threads;
