package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.feed.ServerOptions;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A port, and a Unix-domain socket beside it where the machine has them. */
public final class TcpListener implements Listener {
    private static final Logger LOG = LoggerFactory.getLogger(TcpListener.class);

    private final Acceptor acceptor;
    private final Optional<UnixListener> unix;
    private final String address;

    private TcpListener(Acceptor acceptor, Optional<UnixListener> unix, String address) {
        this.acceptor = acceptor;
        this.unix = unix;
        this.address = address;
    }

    /** Binds the first free port of the options. */
    public static TcpListener open(ServerOptions options, PendingConnection.Gate gate, LongAdder rejected)
            throws IOException {
        ServerSocketChannel socket = Acceptor.bind(options.bind(), options.ports());
        Optional<UnixListener> unix = UnixListener.open();
        try {
            Acceptor acceptor = new Acceptor(socket, unix.map(UnixListener::socket), gate, rejected);
            return new TcpListener(acceptor, unix, Advertised.host(options) + ":" + acceptor.port());
        } catch (IOException | RuntimeException | Error e) {
            socket.close();
            unix.ifPresent(UnixListener::close);
            throw e;
        }
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public Optional<UnixAddress> unix() {
        return unix.map(UnixListener::address);
    }

    @Override
    public void start() {
        acceptor.start();
    }

    @Override
    public void close() {
        try {
            acceptor.close();
        } catch (IOException e) {
            LOG.warn("The server socket did not close cleanly", e);
        }
        unix.ifPresent(UnixListener::close);
    }
}
