package dev.stoker.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/** Reads small files with secrets and addresses. Such a file can neither block its reader nor fill its memory. */
final class RegularFile {
    private static final int MAX_BYTES = 1 << 20;

    private RegularFile() {}

    /**
     * Reads a file whole. Follows links, because secrets are often mounted through them.
     *
     * @throws FileSystemException if it is larger than a megabyte, or not a regular file: opening a FIFO would block
     */
    static byte[] read(Path file) throws IOException {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        if (!found.isRegularFile()) {
            throw new FileSystemException(file.toString(), null, "it is not a regular file");
        }
        if (found.size() > MAX_BYTES) {
            throw new FileSystemException(file.toString(), null, "it has more than " + MAX_BYTES + " bytes");
        }
        return Files.readAllBytes(file);
    }

    /** Reads a UTF-8 text file whole. */
    static String text(Path file) throws IOException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(read(file)))
                .toString();
    }

    /**
     * The permissions of a file that others than its owner can read. Mounted secrets often are so, hence it is no
     * error.
     */
    static Optional<String> sharing(Path file) {
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

    /** Why a file cannot be read, in a word or two. */
    static String reason(IOException e) {
        return e instanceof FileSystemException known && known.getReason() != null
                ? known.getReason()
                : e.getClass().getSimpleName().replaceFirst("Exception$", "");
    }
}
