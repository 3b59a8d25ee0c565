package dev.stoker.client;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What carries a link's bytes: a socket as it is, or TLS around it. Never blocks. One thread reads, one at a time writes;
 * {@link #secure} is called by the reader while nobody writes.
 */
interface Wire {
    /**
     * Goes on with what has to be done before the first frame.
     *
     * @return the operation of a selection key to wait for, or 0 when frames may be sent
     * @throws TlsException for what will not pass
     * @throws IOException for what may
     */
    int secure() throws IOException;

    /** Bytes read, 0 if there are none at present, -1 at the end of the stream. */
    int read(ByteBuffer to) throws IOException;

    /** Takes as much as can be sent now. */
    void write(ByteBuffer from) throws IOException;

    /** Sends what was taken and is still here; true if nothing is left. */
    boolean flush() throws IOException;

    /** Says that nothing more will be sent. */
    void shutdownOutput() throws IOException;
}
