package dev.stoker.feeder.source.event;

import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.util.Optional;
import org.apache.flink.api.connector.source.SourceEvent;
import org.jspecify.annotations.Nullable;

/**
 * Reader to enumerator: the server of this reader's process answers at an address.
 *
 * @param address {@code host:port} as trainers reach it
 * @param host host used for placement
 * @param statusUrl where the server shows how it stands; null if it does not
 * @param unixHost the machine on which its Unix-domain socket is, or empty if it has none
 * @param unixPath path of that socket, or empty
 * @param startedMs when the server began
 * @param mapsMadeMs the time in the greatest generation of the lane maps that the server has; maps that are to replace
 *     them must have a greater one, whatever the clock says
 */
public record ServerEvent(
        String address,
        String host,
        @Nullable String statusUrl,
        String unixHost,
        String unixPath,
        long startedMs,
        long mapsMadeMs)
        implements SourceEvent {
    /** Of a server with or without a Unix-domain socket. */
    public static ServerEvent of(
            String address, @Nullable String statusUrl, Optional<UnixAddress> unix, long startedMs, long mapsMadeMs) {
        return new ServerEvent(
                address,
                address.substring(0, address.lastIndexOf(':')),
                statusUrl,
                unix.map(UnixAddress::host).orElse(""),
                unix.map(UnixAddress::path).orElse(""),
                startedMs,
                mapsMadeMs);
    }

    /** The Unix-domain socket, if there is one. */
    public Optional<UnixAddress> unix() {
        return unixPath.isEmpty() ? Optional.empty() : Optional.of(new UnixAddress(unixHost, unixPath));
    }
}
