package dev.stoker.flink.arguments;

/** A kind of job, for options that not all jobs of a command have. */
public interface JobKind {
    /** Returns what the jobs of this kind are called in messages, such as {@code feeds to Kafka}. */
    String plural();
}
