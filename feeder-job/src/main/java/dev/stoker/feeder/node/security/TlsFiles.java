package dev.stoker.feeder.node.security;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Where a feeder's certificate lies.
 *
 * @param certificate PEM file: the certificate, behind it those that signed it up to the trusted one
 * @param key PEM file: its private key, PKCS#8, not encrypted
 * @param clientCa PEM file: certificates whose holders' certificates trainers must present; empty to ask for none
 */
public record TlsFiles(Path certificate, Path key, Optional<Path> clientCa) {
    public TlsFiles {
        Objects.requireNonNull(certificate, "certificate");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(clientCa, "clientCa");
    }

    List<Path> all() {
        List<Path> files = new ArrayList<>(List.of(certificate, key));
        clientCa.ifPresent(files::add);
        return files;
    }
}
