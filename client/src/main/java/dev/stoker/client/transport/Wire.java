package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Carries a link's bytes: a plain socket, or TLS around it. Never blocks. One thread reads, and one at a time writes.
 * The reader calls {@link #secure} while no thread writes.
 */
public interface Wire {
    /**
     * Performs the next steps before the first frame.
     *
     * @return the operation of a selection key to wait for, or 0 when frames may be sent
     * @throws TlsException for a permanent failure
     * @throws IOException for a temporary failure
     */
    int secure() throws IOException;

    /** Bytes read, 0 if there are none at present, -1 at the end of the stream. */
    int read(ByteBuffer to) throws IOException;

    /** Takes as many bytes as can be sent now. */
    void write(ByteBuffer from) throws IOException;

    /** Sends the bytes that were taken and not yet sent. Returns whether none are left. */
    boolean flush() throws IOException;

    /** Ends the sending direction. */
    void shutdownOutput() throws IOException;
}
