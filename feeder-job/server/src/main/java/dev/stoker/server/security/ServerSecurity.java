package dev.stoker.server.security;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Who may come in, and how connections are protected.
 *
 * @param token secret that trainers must present
 * @param tls files of the certificate; empty for connections in plain text
 * @param insecure whether everyone who can reach the address may come in
 */
public record ServerSecurity(Optional<FeedToken> token, Optional<TlsFiles> tls, boolean insecure) {
    public ServerSecurity {
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(tls, "tls");
    }

    /** Neither token nor TLS, for loopback. */
    public static ServerSecurity open() {
        return new ServerSecurity(Optional.empty(), Optional.empty(), false);
    }

    /**
     * Refuses to let everyone in beyond this machine, unless that is wanted.
     *
     * @param bind address to listen on
     */
    public void check(String bind) {
        if (!authenticates() && !insecure && !isLoopback(bind)) {
            throw new IllegalArgumentException("bind address " + bind
                    + " is reachable from other machines: give --token-file (openssl rand -hex 32 >"
                    + " FILE makes one) or --tls-client-ca, or --insecure to serve everyone");
        }
    }

    /** What a careful reader of the configuration would remark; each in one line. */
    public List<String> warnings(String bind) {
        List<String> warnings = new ArrayList<>();
        token.flatMap(FeedToken::warning).ifPresent(warnings::add);
        tls.flatMap(TlsFiles::warning).ifPresent(warnings::add);
        if (!isLoopback(bind)) {
            if (!authenticates()) {
                warnings.add("everyone who can reach " + bind + " is served (--insecure)");
            } else if (tls.isEmpty()) {
                warnings.add("token and data cross the network to " + bind
                        + " as plain text: give --tls-cert and --tls-key, see docs/security.md");
            }
        }
        return warnings;
    }

    private boolean authenticates() {
        return token.isPresent() || tls.flatMap(TlsFiles::clientCa).isPresent();
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("bind address " + host + " is not known on this machine");
        }
    }
}
