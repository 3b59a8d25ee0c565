/**
 * Groups of trainers of one feed: who holds which place, which run is the newest, and the orders of their streams.
 */
package dev.stoker.server.session.group;
