package dev.stoker.storage;

import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Objects;

/** Writes a temporary file that becomes an object. */
final class LocalObjectWriter implements ObjectWriter {

    private static final SecureRandom RANDOM = new SecureRandom();

    private final LocalFiles files;
    private final FileChannel channel;
    private final Path temporary;
    private final Path target;
    private long position;
    private boolean open = true;
    private boolean published;

    LocalObjectWriter(LocalFiles files, FileChannel channel, Path temporary, Path target) {
        this.files = files;
        this.channel = channel;
        this.temporary = temporary;
        this.target = target;
    }

    static Path temporaryBeside(Path target) {
        byte[] random = new byte[8];
        RANDOM.nextBytes(random);
        return target.resolveSibling(ObjectNames.beside(
                LocalObjectStore.TEMPORARY_PREFIX + HexFormat.of().formatHex(random),
                target.getFileName().toString()));
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        write(new ByteBuffer[] {bytes});
    }

    @Override
    public void write(ByteBuffer[] buffers) throws IOException {
        try {
            int first = 0;
            while (first < buffers.length) {
                if (buffers[first].hasRemaining()) {
                    position += channel.write(buffers, first, Math.min(buffers.length - first, 1024));
                } else {
                    first++;
                }
            }
        } catch (IOException e) {
            throw LocalErrors.explain(target, e);
        }
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public void commit() throws IOException {
        if (!publish()) {
            throw new IOException("Cannot write " + target + ": it already exists");
        }
    }

    /** Gives the file its name. Returns whether the name was free. */
    boolean publish() throws IOException {
        force();
        if (!link()) {
            return false;
        }
        published = true;
        try {
            deleteTemporary();
            forceDirectory();
        } catch (IOException e) {
            throw new UnknownOutcomeException(target.toString(), e);
        }
        return true;
    }

    /** Gives the file the name of the object, which exists. */
    void replace() throws IOException {
        force();
        try {
            files.replace(temporary, target);
            published = true;
            forceDirectory();
        } catch (IOException e) {
            throw published ? new UnknownOutcomeException(target.toString(), e) : LocalErrors.explain(target, e);
        }
    }

    private void force() throws IOException {
        if (!open || published) {
            throw new IllegalStateException("The writer of " + target + " is closed or committed");
        }
        try {
            files.force(channel, temporary);
            channel.close();
        } catch (IOException e) {
            throw LocalErrors.explain(target, e);
        }
    }

    private void forceDirectory() throws IOException {
        files.forceDirectory(Objects.requireNonNull(target.getParent(), "an object is in a directory"));
    }

    private boolean link() throws IOException {
        try {
            files.link(temporary, target);
            return true;
        } catch (FileAlreadyExistsException e) {
            // Over NFS the first reply can be lost and the call be repeated: then this very file has the name.
            return isPublished();
        } catch (UnsupportedOperationException e) {
            throw LocalErrors.noLinks(target, e);
        } catch (AccessDeniedException e) {
            throw LocalErrors.explain(target, e);
        } catch (IOException e) {
            if (LocalErrors.isNoSpace(e)) {
                throw LocalErrors.explain(target, e);
            }
            if (LocalErrors.isNoLinks(e)) {
                throw LocalErrors.noLinks(target, e);
            }
            throw new UnknownOutcomeException(target.toString(), e);
        }
    }

    private boolean isPublished() throws IOException {
        try {
            return Files.isSameFile(temporary, target);
        } catch (IOException e) {
            throw new UnknownOutcomeException(target.toString(), e);
        }
    }

    private void deleteTemporary() {
        try {
            files.delete(temporary);
        } catch (IOException e) {
            // The object exists. The remaining file is listed as unfinished, and a later clean-up removes it.
        }
    }

    @Override
    public void close() throws IOException {
        if (!open) {
            return;
        }
        open = false;
        try {
            channel.close();
        } finally {
            if (!published) {
                deleteTemporary();
            }
        }
    }
}
