package dev.stoker.client.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address {@code host:port}, with an IPv6 host in brackets, or {@code unix:/path} for a Unix-domain socket.
 *
 * @param host the host, or the whole text for a Unix-domain socket
 * @param port the port; 0 for a Unix-domain socket
 */
public record Address(String host, int port) {
    private static final String UNIX = "unix:";
    private static final Pattern TEXT = Pattern.compile("(?:\\[([^\\[\\]]+)]|([^:/\\[\\]]+)):([0-9]{1,5})");

    /** Parses an address; empty if the text is not one. */
    public static Optional<Address> parse(String text) {
        if (text.startsWith(UNIX + "/")) {
            return Optional.of(new Address(text, 0));
        }
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        int port = Integer.parseInt(matcher.group(3));
        String host = matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
        return port < 1 || port > 65535 ? Optional.empty() : Optional.of(new Address(host, port));
    }

    /** The path of the Unix-domain socket, if it is one. */
    public Optional<String> path() {
        return port == 0 ? Optional.of(host.substring(UNIX.length())) : Optional.empty();
    }

    /**
     * Resolves the host; {@code attempt} chooses among its addresses.
     *
     * @throws IOException if the host is unknown, or not resolved yet: then a later attempt may find it
     */
    public InetSocketAddress resolve(int attempt, HostNames names) throws IOException {
        try {
            InetAddress[] found = names.find(host);
            return new InetSocketAddress(found[Math.floorMod(attempt, found.length)], port);
        } catch (UnknownHostException e) {
            throw new IOException("the host of " + host + ":" + port + " is not known");
        }
    }
}
