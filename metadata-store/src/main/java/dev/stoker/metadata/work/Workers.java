package dev.stoker.metadata.work;

import java.io.IOException;
import java.io.Serializable;
import java.util.function.Consumer;

/** Where work is done: by threads of this process, or by a cluster. */
public interface Workers {

    /**
     * Does all pieces of some work, in any order, several at a time. Ends at the first failure.
     *
     * @param pieces number of pieces
     * @param results receives the results in any order, one at a time, on any thread; the result of a piece at most
     *     once
     * @throws IOException if a piece failed; the pieces in work have then ended
     * @throws InterruptedException if interrupted; the pieces in work have then ended, or end soon
     */
    <R extends Serializable> void run(int pieces, PieceWork<R> work, Consumer<? super R> results)
            throws IOException, InterruptedException;
}
