package dev.stoker.client.transport;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How one connection is secured.
 *
 * @param ca file of the trusted certificates; empty: the system's, unless {@code pin} is given
 * @param pin file of the only accepted certificate, regardless of its names
 * @param certificate file of the trainer's own certificate, if it has one
 * @param key file of its key; empty: the certificate's
 * @param name that the feeder's certificate must be for; empty: the host of the address
 */
public record Tls(
        Optional<Path> ca, Optional<Path> pin, Optional<Path> certificate, Optional<Path> key, Optional<String> name) {}
