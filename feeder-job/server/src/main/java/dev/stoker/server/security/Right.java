package dev.stoker.server.security;

/** What a token allows; every right includes those before it. */
public enum Right {
    /** To receive batches. Leaves no receipt. */
    READ,
    /** To acknowledge batches, so that they count as delivered. */
    ACKNOWLEDGE,
    /** To do what can disturb other trainers, such as taking the place of a connected trainer by a greater run. */
    ADMINISTER
}
