/**
 * A small HTTP server for pages that people look at on their own machine. It bounds the resources of its clients. Knows
 * nothing of feeds.
 */
package dev.stoker.server.http;
