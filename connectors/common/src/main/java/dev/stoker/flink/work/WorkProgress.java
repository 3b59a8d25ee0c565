package dev.stoker.flink.work;

/** Receives the progress of a job from time to time, on any thread. */
@FunctionalInterface
public interface WorkProgress {

    /**
     * Some pieces are done.
     *
     * @param done number of pieces that are done
     * @param pieces number of all pieces
     */
    void progressed(int done, int pieces);
}
