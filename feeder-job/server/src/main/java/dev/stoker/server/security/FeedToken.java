package dev.stoker.server.security;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The secrets that trainers must present, and the rights of each secret. Only digests are kept, so that no heap dump,
 * log or message can show a token. A changed token file is read again; existing sessions stay. Thread-safe.
 */
public final class FeedToken {
    private static final Logger LOG = LoggerFactory.getLogger(FeedToken.class);

    /**
     * What the holder of a token may do.
     *
     * @param streams names of streams, or beginnings of them with an asterisk behind; empty for all streams
     * @param groups the same of groups
     * @param right the greatest right
     */
    public record Rights(List<String> streams, List<String> groups, Right right) {

        /** Without limits. */
        public static final Rights ALL = new Rights(List.of(), List.of(), Right.ADMINISTER);

        public Rights {
            streams = List.copyOf(streams);
            groups = List.copyOf(groups);
        }

        /** Whether a right is included. */
        public boolean includes(Right wanted) {
            return right.compareTo(wanted) >= 0;
        }

        /**
         * Refuses a stream or group that the token is not for.
         *
         * @throws ProtocolException naming the limit
         */
        public void require(String stream, String group) throws ProtocolException {
            require("stream", stream, streams);
            require("group", group, groups);
        }

        private static void require(String what, String name, List<String> limits) throws ProtocolException {
            if (!limits.isEmpty() && limits.stream().noneMatch(limit -> isWithin(name, limit))) {
                throw unauthorized(
                        "for " + what + " " + name + ", only for " + what + "s " + String.join(", ", limits));
            }
        }

        private static boolean isWithin(String name, String limit) {
            return limit.endsWith("*") ? name.startsWith(limit.substring(0, limit.length() - 1)) : name.equals(limit);
        }

        /**
         * Refuses what needs a greater right.
         *
         * @param what that was tried, for the message
         * @throws ProtocolException naming the right
         */
        public void require(Right wanted, String what) throws ProtocolException {
            if (!includes(wanted)) {
                throw unauthorized("to " + wanted.name().toLowerCase(Locale.ROOT) + ", which " + what
                        + " needs; its greatest right is " + right.name().toLowerCase(Locale.ROOT));
            }
        }

        private static ProtocolException unauthorized(String limit) {
            return new ProtocolException(
                    ErrorCode.UNAUTHORIZED,
                    "the token is not " + limit + ": ask the feed's administrator for another line in its token file");
        }
    }

    private final Optional<Path> file;
    private final WatchedFiles watched;
    /** Guarded by the monitor of this object. */
    private List<TokenFile.Entry> entries;

    private FeedToken(Optional<Path> file, WatchedFiles watched, List<TokenFile.Entry> entries) {
        this.file = file;
        this.watched = watched;
        this.entries = entries;
    }

    /** Returns a token that never changes and allows everything. */
    public static FeedToken of(String secret) {
        return new FeedToken(
                Optional.empty(),
                new WatchedFiles(List.of()),
                List.of(new TokenFile.Entry(digest(secret), Rights.ALL)));
    }

    /**
     * Reads the tokens of a file, one per line, as {@code docs/security.md} describes it.
     *
     * @throws AccessException if the file cannot be read, is empty or malformed
     */
    public static FeedToken file(Path file) throws AccessException {
        WatchedFiles watched = new WatchedFiles(List.of(file));
        return new FeedToken(Optional.of(file), watched, TokenFile.read(file));
    }

    /** Returns the rights of a token; empty if the token is unknown. Takes the same time for every input. */
    public Optional<Rights> rights(Optional<String> given) {
        byte[] digest = digest(given.orElse(""));
        Rights found = null;
        for (TokenFile.Entry entry : current()) {
            // Compare with all entries, so that the time does not reveal which one matched.
            found = MessageDigest.isEqual(entry.digest(), digest) ? entry.rights() : found;
        }
        return given.isPresent() ? Optional.ofNullable(found) : Optional.empty();
    }

    /** Returns a warning if other users of the machine may read the file. */
    public Optional<String> warning() {
        return file.filter(FeedToken::isOpen)
                .map(f -> "token file " + f + " can be read by every user of this machine: chmod 600 " + f);
    }

    private synchronized List<TokenFile.Entry> current() {
        if (watched.changed()) {
            try {
                entries = TokenFile.read(file.orElseThrow());
                LOG.info("Reloaded {}; existing sessions continue", this);
            } catch (AccessException e) {
                LOG.warn("{}; the previous tokens remain valid", e.getMessage());
            }
        }
        return entries;
    }

    private static boolean isOpen(Path file) {
        try {
            return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ);
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Returns the digest of a token as text, so that the tokens of clients can be compared; empty without a token. */
    public static String digestText(Optional<String> token) {
        return token.map(text -> HexFormat.of().formatHex(digest(text))).orElse("");
    }

    static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Returns a text without the token. */
    @Override
    public String toString() {
        return file.map(f -> "token file " + f).orElse("a token");
    }
}
