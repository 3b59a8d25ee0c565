package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectNames;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.retry.Retries;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;

/**
 * Creates an object as a temporary file in the same directory, synced, which then gets its name by a rename that fails
 * if the name exists. For HDFS, whose name node performs this rename in one step.
 */
final class RenamingCreator implements ObjectCreator {

    private final HadoopObjectStore.Connection connection;
    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;
    private final FileContext files;
    private final Names names;

    /** Renames a file, and fails if the name exists. Tests implement this interface to lose its reply. */
    interface Names {
        void rename(Path from, Path to) throws IOException;
    }

    /** @param around wraps the file system's rename */
    RenamingCreator(HadoopObjectStore.Connection connection, UnaryOperator<Names> around) throws IOException {
        this.connection = connection;
        this.fileSystem = connection.fileSystem();
        this.paths = connection.paths();
        this.retries = connection.retries();
        // The rename of FileSystem may replace a file; only this variant can be told not to.
        this.files = FileContext.getFileContext(fileSystem.getUri(), connection.configuration());
        this.names = around.apply((from, to) -> files.rename(from, to, Rename.NONE));
    }

    RenamingCreator(HadoopObjectStore.Connection connection) throws IOException {
        this(connection, UnaryOperator.identity());
    }

    private static Path temporaryBeside(Path target) {
        return new Path(
                target.getParent(),
                ObjectNames.beside(ObjectPaths.TEMPORARY_PREFIX + RandomNames.next(), target.getName()));
    }

    private FSDataOutputStream create(Path temporary) throws IOException {
        return files.create(temporary, EnumSet.of(CreateFlag.CREATE, CreateFlag.SYNC_BLOCK), CreateOpts.createParent());
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        Path target = paths.newObject(name);
        String where = paths.describe(name);
        Optional<Path> temporary = retries.call(
                "write",
                where,
                () -> fileSystem.exists(target) ? Optional.empty() : Optional.of(writeTemporary(target, content)));
        return temporary.isPresent() && publish(temporary.get(), target, where, path -> hasContent(path, content));
    }

    private Path writeTemporary(Path target, byte[] content) throws IOException {
        Path created = temporaryBeside(target);
        FSDataOutputStream out = create(created);
        try {
            out.write(content);
            out.hsync();
            out.close();
        } catch (IOException e) {
            closeQuietly(out);
            deleteQuietly(created, e);
            throw e;
        }
        return created;
    }

    /** A repeated call writes the same content again, so a lost reply does no harm. */
    @Override
    public void replace(String name, byte[] content) throws IOException {
        Path target = paths.newObject(name);
        retries.call("write", paths.describe(name), () -> {
            Path temporary = writeTemporary(target, content);
            try {
                files.rename(temporary, target, Rename.OVERWRITE);
            } catch (IOException e) {
                deleteQuietly(temporary, e);
                throw e;
            }
            return true;
        });
    }

    /** Checks whether the object with the name is this creator's own object. */
    private interface OwnCheck {
        boolean isOwn(Path target) throws IOException;
    }

    /**
     * Gives the file its name, and returns whether the name was free. The temporary file does not exist afterwards.
     *
     * <p>A reply may be lost after its call took effect, so a missing file proves nothing after a repeated call. A name
     * that exists stays in use. A missing temporary file was renamed only if the target exists and is the writer's own.
     */
    private boolean publish(Path temporary, Path target, String where, OwnCheck check) throws IOException {
        boolean[] sent = new boolean[1];
        boolean[] taken = new boolean[1];
        try {
            return retries.call("write", where, () -> {
                if (taken[0]) {
                    fileSystem.delete(temporary, false);
                    return false;
                }
                if (sent[0] && !fileSystem.exists(temporary)) {
                    return wasRenamed(target, where, check);
                }
                sent[0] = true;
                try {
                    names.rename(temporary, target);
                    return true;
                } catch (FileAlreadyExistsException e) {
                    if (!fileSystem.exists(temporary)) {
                        return wasRenamed(target, where, check);
                    }
                    taken[0] = true;
                    fileSystem.delete(temporary, false);
                    return false;
                } catch (FileNotFoundException e) {
                    return wasRenamed(target, where, check);
                }
            });
        } catch (UnknownOutcomeException e) {
            throw e;
        } catch (IOException e) {
            if (taken[0]) {
                // The remaining temporary file is listed as unfinished, and a later clean-up removes it.
                return false;
            }
            if (isGone(temporary)) {
                throw new UnknownOutcomeException(where, e);
            }
            deleteQuietly(temporary, e);
            throw e;
        }
    }

    /** Returns whether the missing temporary file became the target. */
    private static boolean wasRenamed(Path target, String where, OwnCheck check) throws IOException {
        try {
            return check.isOwn(target);
        } catch (FileNotFoundException e) {
            // A retry under the same name is harmless. The caller retries, because it has the content.
            throw new UnknownOutcomeException(
                    where, new IOException("its temporary file was removed before it got its name", e));
        }
    }

    /** Returns whether the target has this content. */
    private boolean hasContent(Path target, byte[] content) throws IOException {
        FileStatus status = fileSystem.getFileStatus(target);
        if (status.getLen() != content.length) {
            return false;
        }
        byte[] found = new byte[content.length];
        try (FSDataInputStream in = fileSystem.open(target)) {
            in.readFully(0, found);
        }
        return Arrays.equals(found, content);
    }

    /** Returns whether the file may have been renamed. */
    private boolean isGone(Path temporary) {
        try {
            return !fileSystem.exists(temporary);
        } catch (IOException e) {
            return true;
        }
    }

    /** Ignores the failure, which was reported before: a stream of HDFS throws its first failure again. */
    private static void closeQuietly(FSDataOutputStream out) {
        try {
            out.close();
        } catch (IOException e) {
            // See above.
        }
    }

    private void deleteQuietly(Path temporary, IOException first) {
        try {
            fileSystem.delete(temporary, false);
        } catch (IOException e) {
            // The remaining file is listed as unfinished, and a later clean-up removes it.
            if (e != first) {
                first.addSuppressed(e);
            }
        }
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        Path target = paths.newObject(name);
        String where = paths.describe(name);
        Path temporary = temporaryBeside(target);
        return new Writer(temporary, target, where, retries.call("write", where, () -> create(temporary)));
    }

    private final class Writer implements ObjectWriter {
        private final Path temporary;
        private final Path target;
        private final String where;
        private final OpenFile file;
        private boolean committed;
        private boolean closed;

        Writer(Path temporary, Path target, String where, FSDataOutputStream out) {
            this.temporary = temporary;
            this.target = target;
            this.where = where;
            this.file = new OpenFile(out, where, retries);
        }

        @Override
        public void write(ByteBuffer bytes) throws IOException {
            file.write(bytes);
        }

        @Override
        public long position() {
            return file.position();
        }

        @Override
        public void commit() throws IOException {
            if (committed || closed) {
                throw new IllegalStateException("The writer of " + where + " is closed or committed");
            }
            try {
                file.out().hsync();
                file.out().close();
            } catch (IOException e) {
                throw file.failed(e);
            }
            // The name contains a random id, which no other writer uses.
            if (!publish(
                    temporary,
                    target,
                    where,
                    path -> fileSystem.getFileStatus(path).getLen() == position())) {
                throw new IOException("Cannot write " + where + ": it already exists");
            }
            committed = true;
        }

        @Override
        public void close() throws IOException {
            if (closed || committed) {
                closed = true;
                return;
            }
            closed = true;
            closeQuietly(file.out());
            retries.call("delete", temporary.toString(), () -> fileSystem.delete(temporary, false));
        }
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) {
        return new HadoopObjectIterator(connection, prefix, "", ObjectPaths::isTemporary);
    }

    @Override
    public boolean deleteUnfinished(String name) throws IOException {
        return retries.call("delete", paths.describe(name), () -> fileSystem.delete(paths.path(name), false));
    }
}
