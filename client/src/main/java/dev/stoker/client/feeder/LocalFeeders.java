package dev.stoker.client.feeder;

import dev.stoker.client.transport.LocalReads;
import dev.stoker.client.transport.LocalTransport;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The feeders on this machine: the Unix-domain sockets at which they can be reached, and the feeders whose files can be
 * read here. Guarded by the client's lock.
 */
final class LocalFeeders {
    private final LocalTransport local;
    /** Unix-domain sockets by address, from the newest lane map or the feed's file. */
    private Map<String, UnixAddress> unix = Map.of();
    /** Paths of Unix-domain sockets that did not answer. */
    private final Set<String> deaf = new HashSet<>();
    /** Addresses whose files cannot be read on this machine. */
    private final Set<String> unreadable = new HashSet<>();

    LocalFeeders(LocalTransport local) {
        this.local = local;
    }

    /** Replaces the known sockets with the sockets of a lane map. */
    void adopt(Map<String, UnixAddress> sockets) {
        unix = sockets;
    }

    /** Adds sockets from the feed's file, except where an address is already known. */
    void add(Map<String, UnixAddress> sockets) {
        Map<String, UnixAddress> places = new HashMap<>(sockets);
        places.putAll(unix);
        unix = places;
    }

    /** The path of a feeder's Unix-domain socket, if it can be used. */
    Optional<String> pathOf(String address) {
        UnixAddress place = unix.get(address);
        return place == null
                        || local == LocalTransport.TCP
                        || deaf.contains(place.path())
                        || !LocalTransport.isUsable(place)
                ? Optional.empty()
                : Optional.of(place.path());
    }

    /** The addresses of the feeders that listen at this path. */
    List<String> addressesOf(Optional<String> path) {
        return unix.entrySet().stream()
                .filter(place -> path.filter(place.getValue().path()::equals).isPresent())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Notes that a Unix-domain socket did not answer. */
    void failed(String path) {
        deaf.add(path);
    }

    /** How many files to offer for local reads: none if payload must be sent over the connection. */
    int localFiles(FeederConnection connection) {
        return connection.isNear() && local.readsLocally() && !unreadable.contains(connection.address())
                ? LocalReads.most()
                : 0;
    }

    /** Stops local reads from this feeder, from its next connection on. */
    void refuseLocalReads(String address) {
        unreadable.add(address);
    }
}
