package dev.stoker.client;

import dev.stoker.client.transport.Security;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Collects the settings of tokens and TLS, see {@link FeedClientBuilder#security}. */
public final class SecurityOptions {
    private Optional<String> token = Optional.empty();
    private Optional<Path> tokenFile = Optional.empty();
    private Security.Trust trust = new Security.Trust.Unsaid();
    private Optional<Path> tlsCertificate = Optional.empty();
    private Optional<Path> tlsKey = Optional.empty();
    private Optional<String> tlsName = Optional.empty();

    SecurityOptions() {}

    /**
     * Sets the token that the feed requires. By default it comes from {@code STOKER_TOKEN}, from the file that {@code
     * STOKER_TOKEN_FILE} names, or from the file that the feed's own file on this machine names.
     */
    public SecurityOptions token(String secret) {
        token = Optional.of(secret);
        return this;
    }

    /** Sets the file with the token. The client reads it for each connection. */
    public SecurityOptions tokenFile(Path file) {
        tokenFile = Optional.of(file);
        return this;
    }

    /**
     * Uses TLS and trusts feeders whose certificate is in this PEM file or signed by one in it; by default {@code
     * STOKER_TLS_CA}.
     */
    public SecurityOptions tls(Path certificates) {
        trust = new Security.Trust.File(certificates);
        return this;
    }

    /** Uses TLS and trusts the feeders that the Java runtime trusts. */
    public SecurityOptions tlsOfSystem() {
        trust = new Security.Trust.System();
        return this;
    }

    /** Uses no TLS, regardless of the environment and the feed's file. */
    public SecurityOptions plainText() {
        trust = new Security.Trust.Plain();
        return this;
    }

    /**
     * Sets the trainer's own certificate and key, as PEM files; by default {@code STOKER_TLS_CERT} and {@code
     * STOKER_TLS_KEY}.
     */
    public SecurityOptions tlsCertificate(Path certificate, Path key) {
        tlsCertificate = Optional.of(certificate);
        tlsKey = Optional.of(key);
        return this;
    }

    /**
     * Sets the name that the feeder's certificate must have, if it is not the host of the address; by default {@code
     * STOKER_TLS_NAME}.
     */
    public SecurityOptions tlsName(String name) {
        tlsName = Optional.of(name);
        return this;
    }

    Security build(Map<String, String> environment) {
        return new Security(token, tokenFile, trust, tlsCertificate, tlsKey, tlsName, Map.copyOf(environment));
    }
}
