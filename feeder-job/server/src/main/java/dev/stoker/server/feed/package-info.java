/**
 * What a feed is, as its server sees it: specification, options, groups, the items that go into the ledger, and its
 * state at one moment. Immutable values without threads. Depends on no other package of the server but the options of
 * tiers and security.
 */
package dev.stoker.server.feed;
