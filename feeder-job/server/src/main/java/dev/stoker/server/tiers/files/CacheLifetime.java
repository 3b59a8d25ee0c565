package dev.stoker.server.tiers.files;

/** How long what a disk tier holds is kept. */
public enum CacheLifetime {
    /** Removed when the feed ends; found again by the same feed after a crash. */
    FEED,
    /** Stays on the machine, for all feeds that use the same directory. */
    NODE
}
