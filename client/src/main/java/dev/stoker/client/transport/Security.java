package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The credentials that a trainer shows to feeders, and its demands on theirs. The builder's settings come first, then
 * the environment, then the feed's own file. Files are read again for each connection, so that renewed ones are used.
 *
 * @param token the secret itself
 * @param tokenFile the file that holds it
 * @param trust the settings for TLS
 * @param certificate the trainer's certificate
 * @param key the certificate's key
 * @param name that a feeder's certificate must be for
 * @param environment variables of the process
 */
public record Security(
        Optional<String> token,
        Optional<Path> tokenFile,
        Trust trust,
        Optional<Path> certificate,
        Optional<Path> key,
        Optional<String> name,
        Map<String, String> environment) {
    /** The feeders that a trainer trusts. */
    public sealed interface Trust {
        /** Not set: the environment decides, else the feed's file. */
        record Unsaid() implements Trust {}

        /** No TLS, regardless of the environment. */
        record Plain() implements Trust {}

        /** Feeders that the system trusts. */
        @SuppressWarnings("JavaLangClash") // always written Trust.System
        record System() implements Trust {}

        /** Feeders that the certificates of a file identify. */
        record File(Path ca) implements Trust {}
    }

    private static final String CA = "STOKER_TLS_CA";
    private static final String CERTIFICATE = "STOKER_TLS_CERT";
    private static final String NAME = "STOKER_TLS_NAME";

    /** Settings that contradict each other. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        if (token.isPresent() && tokenFile.isPresent()) {
            problems.add("token and tokenFile are both set; give only one of them");
        }
        if (trust instanceof Trust.Plain && (certificate.isPresent() || name.isPresent())) {
            problems.add("tlsCertificate and tlsName cannot be combined with plainText");
        }
        return problems;
    }

    /**
     * The token for a feed, if there is one.
     *
     * @throws UnauthorizedException if a given file cannot be read
     */
    public Optional<String> tokenFor(Target target) {
        if (token.isPresent()) {
            return token;
        }
        if (tokenFile.isPresent()) {
            return Optional.of(read(tokenFile.get(), "tokenFile"));
        }
        return variable("STOKER_TOKEN")
                .or(() -> file("STOKER_TOKEN_FILE").map(path -> read(path, "STOKER_TOKEN_FILE")))
                .or(target::token);
    }

    private static String read(Path path, String source) {
        String text;
        try {
            text = RegularFile.text(path);
        } catch (IOException e) {
            String why = e instanceof CharacterCodingException ? "it is not text" : RegularFile.reason(e);
            throw new UnauthorizedException(source + " " + path + " cannot be read: " + why);
        }
        // The format of the feeder's token file: comments, and on each line a token and its limits. A trainer uses the
        // first token.
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .findFirst()
                .map(line -> line.split("\\s+", -1)[0])
                .orElseThrow(() -> new UnauthorizedException(source + " " + path + " is empty"));
    }

    /**
     * Whether the client may switch from TCP to a feeder's Unix-domain socket. It may not if TLS was configured in any
     * way.
     */
    public boolean allowsUnix() {
        boolean isSaid = !(trust instanceof Trust.Unsaid) || certificate.isPresent() || name.isPresent();
        return !isSaid
                && variable(CA).isEmpty()
                && variable(CERTIFICATE).isEmpty()
                && variable(NAME).isEmpty();
    }

    /**
     * Returns how a connection to an address is secured. Empty for plain text. Unix-domain sockets always use plain
     * text because they do not leave the machine.
     *
     * @throws TlsException if TLS is wanted and the address leads to a Unix-domain socket that the user did not name,
     *     or if a feed that was served over TLS no longer is
     */
    public Optional<Tls> tlsFor(Target target, String address) {
        boolean isUnix = address.startsWith("unix:");
        if (trust instanceof Trust.Plain || (isUnix && target.given().contains(address))) {
            return Optional.empty();
        }
        Optional<Tls> tls = tlsFor(target);
        if (isUnix && tls.isPresent()) {
            throw new TlsException(address + " is a Unix-domain socket, but this trainer uses only TLS with " + target);
        }
        return tls;
    }

    private Optional<Tls> tlsFor(Target target) {
        Optional<Path> shown = certificate.or(() -> file(CERTIFICATE));
        Optional<Path> shownKey = key.or(() -> file("STOKER_TLS_KEY"));
        Optional<String> expected = name.or(() -> variable(NAME));
        Trust wanted = trust instanceof Trust.Unsaid ? trustOfEnvironment() : trust;
        if (wanted instanceof Trust.File file) {
            return Optional.of(new Tls(Optional.of(file.ca()), Optional.empty(), shown, shownKey, expected));
        }
        if (wanted instanceof Trust.Unsaid) {
            Optional<Path> pin = target.certificate();
            if (pin.isPresent()) {
                return Optional.of(new Tls(Optional.empty(), pin, shown, shownKey, expected));
            }
            if (shown.isEmpty() && expected.isEmpty()) {
                return Optional.empty();
            }
        }
        return Optional.of(new Tls(Optional.empty(), Optional.empty(), shown, shownKey, expected));
    }

    private Trust trustOfEnvironment() {
        Optional<String> ca = variable(CA);
        if (ca.isEmpty()) {
            return trust;
        }
        return ca.get().equals("system") ? new Trust.System() : new Trust.File(path(ca.get()));
    }

    private Optional<String> variable(String variable) {
        return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
    }

    private Optional<Path> file(String variable) {
        return variable(variable).map(this::path);
    }

    private Path path(String text) {
        return text.startsWith("~/")
                ? Path.of(environment.getOrDefault("HOME", System.getProperty("user.home", "~")), text.substring(2))
                : Path.of(text);
    }

    /** Omits the token. */
    @Override
    public String toString() {
        return "Security[" + trust + "]";
    }
}
