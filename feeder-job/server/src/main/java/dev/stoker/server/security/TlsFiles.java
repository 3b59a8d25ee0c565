package dev.stoker.server.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

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

    /** Says if others than the key's owner may read it. Mounted secrets often are so, hence it is no error. */
    Optional<String> warning() {
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(key);
            if (permissions.contains(PosixFilePermission.GROUP_READ)
                    || permissions.contains(PosixFilePermission.OTHERS_READ)) {
                return Optional.of("key file " + key + " can be read by users other than its owner ("
                        + PosixFilePermissions.toString(permissions) + "): chmod 600 " + key);
            }
        } catch (IOException | UnsupportedOperationException e) {
            // Reading it says more.
        }
        return Optional.empty();
    }

    List<Path> all() {
        List<Path> files = new ArrayList<>(List.of(certificate, key));
        clientCa.ifPresent(files::add);
        return files;
    }
}
