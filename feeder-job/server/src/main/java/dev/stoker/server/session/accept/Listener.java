package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/** Where connections of trainers come in. */
public interface Listener extends AutoCloseable {

    /** Takes possession of an address. */
    interface Opener {
        /**
         * Opens a listener; {@link Listener#start} begins to accept.
         *
         * @param gate judges first frames and takes connections over
         * @param rejected counts connections that never became sessions
         */
        Listener open(PendingConnection.Gate gate, LongAdder rejected) throws IOException;
    }

    /** {@code host:port} for trainers. */
    String address();

    /** The Unix-domain socket for trainers of this machine, if there is one. */
    Optional<UnixAddress> unix();

    /** Begins to accept connections. */
    void start();

    /** Stops accepting and frees the address. */
    @Override
    void close();
}
