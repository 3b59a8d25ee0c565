/**
 * Verbs that start, watch, audit and stop feeds.
 */
package dev.stoker.cli.feed;
