package dev.stoker.client.feeder;

import dev.stoker.client.errors.TlsException;
import dev.stoker.client.transport.Address;
import dev.stoker.client.transport.HostNames;
import dev.stoker.client.transport.Security;
import dev.stoker.client.transport.Target;
import dev.stoker.client.transport.Tls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Selector;
import java.util.Optional;

/**
 * Opens connections: resolves addresses, and chooses between TCP, Unix-domain sockets and TLS. Guarded by the client's
 * lock.
 */
final class ConnectionOpener {
    private final Target target;
    private final Security security;
    private final Selector selector;
    private final HostNames names = new HostNames(InetAddress::getAllByName);

    /** @param selector reports when the sockets are ready */
    ConnectionOpener(Target target, Security security, Selector selector) {
        this.target = target;
        this.security = security;
        this.selector = selector;
    }

    /**
     * Starts to connect to a feeder.
     *
     * @param attempt chooses among the addresses of a host
     * @param near path of the Unix-domain socket to use instead of the address, if there is one
     * @throws TlsException if the connection cannot be secured
     */
    FeederConnection open(String address, int attempt, Optional<String> near, FeederConnection.Sink sink)
            throws IOException {
        Address place = Address.parse(address).orElseThrow(() -> new IOException("'" + address + "' is not host:port"));
        Optional<String> path = near.or(place::path);
        SocketAddress resolved =
                path.isPresent() ? UnixDomainSocketAddress.of(path.get()) : place.resolve(attempt, names);
        Optional<Tls> tls = near.isPresent() ? Optional.empty() : security.tlsFor(target, address);
        return new FeederConnection(
                new FeederConnection.Way(address, resolved, path, tls), sink, selector, System.nanoTime());
    }
}
