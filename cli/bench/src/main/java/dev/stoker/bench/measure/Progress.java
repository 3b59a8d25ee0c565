package dev.stoker.bench.measure;

/** Follows a measurement. Any thread may call {@link #isStopped}; it is asked often. */
public interface Progress {

    /** Names the measurement that begins. */
    void doing(String what);

    /** Whether the user has asked for the end. The measurement then removes what it has written, and ends. */
    boolean isStopped();

    /** The load of the machine before the measurement, which itself is a load: {@link Machine#load}. */
    default double loadBefore() {
        return 0;
    }
}
