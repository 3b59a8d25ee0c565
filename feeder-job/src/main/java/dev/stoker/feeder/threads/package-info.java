/**
 * Threads, locks and time as the feeder uses them where a wait may be long. Production code gets the machine's own; the
 * simulator passes in threads that run one at a time on a virtual clock. Depends on nothing else of the feeder.
 */
package dev.stoker.feeder.threads;
