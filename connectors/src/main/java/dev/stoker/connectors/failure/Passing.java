package dev.stoker.connectors.failure;

/** Marks a failure of something that is away and comes back: a broker, say. */
public interface Passing {}
