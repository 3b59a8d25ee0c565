package dev.stoker.flink.failure;

/** Marks a temporary failure, such as that of a broker that is unavailable. */
public interface Passing {}
