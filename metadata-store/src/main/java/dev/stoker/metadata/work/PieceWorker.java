package dev.stoker.metadata.work;

import java.io.Closeable;
import java.io.IOException;

/**
 * Does pieces of work, one after the other. For one thread.
 *
 * @param <R> the result of a piece
 */
@FunctionalInterface
public interface PieceWorker<R> extends Closeable {

    /**
     * Does a piece. If it fails or is interrupted, it leaves nothing behind where that is possible.
     *
     * @param piece its number
     */
    R run(int piece) throws IOException, InterruptedException;

    @Override
    default void close() throws IOException {}
}
