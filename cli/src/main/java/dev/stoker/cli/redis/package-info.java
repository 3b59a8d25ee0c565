/**
 * Places of samples in a Redis server. An answer of the server is a hint that the sample index checks; losing, flushing
 * or filling the server with garbage changes the speed of lookups only. Starts no threads except those of the load.
 */
package dev.stoker.cli.redis;
