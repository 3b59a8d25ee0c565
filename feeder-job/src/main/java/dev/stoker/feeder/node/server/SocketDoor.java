package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.ServerOptions;
import dev.stoker.schemas.protocol.UnixAddress;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A port, and a Unix-domain socket beside it where the machine has them. */
final class SocketDoor implements Door {
    private static final Logger LOG = LoggerFactory.getLogger(SocketDoor.class);

    private final Doorman doorman;
    private final Optional<UnixDoor> unix;
    private final String address;

    private SocketDoor(Doorman doorman, Optional<UnixDoor> unix, String address) {
        this.doorman = doorman;
        this.unix = unix;
        this.address = address;
    }

    /** Binds the first free port of the options. */
    static SocketDoor open(ServerOptions options, Doorman.Gate gate, LongAdder rejected) throws IOException {
        ServerSocketChannel socket = Doorman.bind(options.bind(), options.ports());
        Optional<UnixDoor> unix = UnixDoor.open();
        try {
            Doorman doorman = new Doorman(socket, unix.map(UnixDoor::socket), gate, rejected);
            return new SocketDoor(doorman, unix, Advertised.host(options) + ":" + doorman.port());
        } catch (IOException | RuntimeException | Error e) {
            socket.close();
            unix.ifPresent(UnixDoor::close);
            throw e;
        }
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public Optional<UnixAddress> unix() {
        return unix.map(UnixDoor::address);
    }

    @Override
    public void start() {
        doorman.start();
    }

    @Override
    public void close() {
        try {
            doorman.close();
        } catch (IOException e) {
            LOG.warn("The server socket did not close cleanly", e);
        }
        unix.ifPresent(UnixDoor::close);
    }
}
