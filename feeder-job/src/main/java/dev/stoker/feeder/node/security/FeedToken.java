package dev.stoker.feeder.node.security;

import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The secret that trainers must present. Only its digest is kept, so that no heap dump, log or message can show it. A token
 * in a file is read again when the file changes; sessions that were let in before stay. Thread-safe.
 */
public final class FeedToken {
    private static final Logger LOG = LoggerFactory.getLogger(FeedToken.class);
    private static final int MAX_CHARACTERS = 4096;
    /** Characters of four bytes, and white space around them. */
    private static final int MAX_BYTES = 8 * MAX_CHARACTERS;

    private final Optional<Path> file;
    private final WatchedFiles watched;
    private byte[] digest;

    private FeedToken(Optional<Path> file, WatchedFiles watched, byte[] digest) {
        this.file = file;
        this.watched = watched;
        this.digest = digest;
    }

    /** A token that never changes. */
    public static FeedToken of(String secret) {
        return new FeedToken(Optional.empty(), new WatchedFiles(List.of()), digest(secret));
    }

    /**
     * The one line of a file, without white space around it.
     *
     * @throws AccessException if the file cannot be read, is empty, or holds more than a line
     */
    public static FeedToken file(Path file) throws AccessException {
        WatchedFiles watched = new WatchedFiles(List.of(file));
        return new FeedToken(Optional.of(file), watched, digest(read(file)));
    }

    /** Whether this is the token; takes the same time whatever was given. */
    public boolean matches(Optional<String> given) {
        return MessageDigest.isEqual(current(), digest(given.orElse(""))) && given.isPresent();
    }

    /** Says if other users of the machine may read the file. */
    public Optional<String> warning() {
        return file.filter(FeedToken::isOpen)
                .map(f -> "token file " + f + " can be read by every user of this machine: chmod 600 " + f);
    }

    private synchronized byte[] current() {
        if (watched.changed()) {
            try {
                digest = digest(read(file.orElseThrow()));
                LOG.info("{} was read anew; sessions that were let in before go on", this);
            } catch (AccessException e) {
                LOG.warn("{}; the token read before stays in force", e.getMessage());
            }
        }
        return digest;
    }

    private static String read(Path file) throws AccessException {
        String token;
        try {
            byte[] bytes = PrivateFiles.readRegular(file, MAX_BYTES);
            token = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString()
                    .strip();
        } catch (IOException e) {
            throw new AccessException(
                    "token file " + file + " cannot be read on this machine (" + AccessException.reason(e)
                            + "): put it on every feeder machine, readable for the user that the feeder runs as",
                    e);
        }
        if (token.isEmpty()) {
            throw new AccessException(
                    "token file " + file + " is empty: fill it, as in openssl rand -hex 32 > " + file);
        }
        if (token.length() > MAX_CHARACTERS || token.chars().anyMatch(Character::isISOControl)) {
            throw new AccessException("token file " + file + " holds more than one line of at most " + MAX_CHARACTERS
                    + " characters: fill it, as in openssl rand -hex 32 > " + file);
        }
        return token;
    }

    private static boolean isOpen(Path file) {
        try {
            return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ);
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private static byte[] digest(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Without the token. */
    @Override
    public String toString() {
        return file.map(f -> "token file " + f).orElse("a token");
    }
}
