package dev.stoker.server.session.accept;

import dev.stoker.server.feed.ServerOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** The host that trainers are told. */
final class Advertised {
    private Advertised() {}

    /** What is configured, or the bind address, or this machine's when that is every address. */
    static String host(ServerOptions options) throws UnknownHostException {
        String host = options.advertised().orElse(options.bind());
        if (options.advertised().isEmpty() && InetAddress.getByName(host).isAnyLocalAddress()) {
            host = InetAddress.getLocalHost().getHostAddress();
        }
        return host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
    }
}
