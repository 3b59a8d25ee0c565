/**
 * Single samples from feeders: sessions for requests, and failover. Internal. The calling thread sends a request and
 * receives its answer; this package starts no threads.
 */
package dev.stoker.client.lookup;
