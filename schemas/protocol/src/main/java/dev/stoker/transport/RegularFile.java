package dev.stoker.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/** Reads small files with secrets and addresses. Such a file can neither block its reader nor fill its memory. */
public final class RegularFile {
    private static final int MAX_BYTES = 1 << 20;

    private RegularFile() {}

    /** Reads a file of at most a megabyte, as {@link #read(Path, int)}. */
    public static byte[] read(Path file) throws IOException {
        return read(file, MAX_BYTES);
    }

    /**
     * Reads a file whole. Follows links, because secrets are often mounted through them.
     *
     * @throws FileSystemException if it is larger than the limit, or not a regular file: opening a FIFO would block
     */
    public static byte[] read(Path file, int maxBytes) throws IOException {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        if (!found.isRegularFile()) {
            throw new FileSystemException(file.toString(), null, "it is not a regular file");
        }
        if (found.size() > maxBytes) {
            throw new FileSystemException(file.toString(), null, "it has more than " + maxBytes + " bytes");
        }
        return Files.readAllBytes(file);
    }

    /** Reads a UTF-8 text file whole. */
    public static String text(Path file) throws IOException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(read(file)))
                .toString();
    }

    /**
     * The permissions of a file that others than its owner can read. Mounted secrets often are so, hence it is no
     * error.
     */
    public static Optional<String> sharing(Path file) {
        try {
            Set<PosixFilePermission> found = Files.getPosixFilePermissions(file);
            boolean isShared =
                    found.contains(PosixFilePermission.GROUP_READ) || found.contains(PosixFilePermission.OTHERS_READ);
            return isShared ? Optional.of(PosixFilePermissions.toString(found)) : Optional.empty();
        } catch (IOException | UnsupportedOperationException e) {
            // Reading it says more.
            return Optional.empty();
        }
    }

    /** Returns why a file cannot be read, in a few words. */
    public static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "it does not exist";
        }
        return e instanceof FileSystemException known && known.getReason() != null
                ? known.getReason()
                : e.getClass().getSimpleName().replaceFirst("Exception$", "");
    }
}
