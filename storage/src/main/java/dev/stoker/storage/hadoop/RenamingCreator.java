package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.UnknownOutcomeException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;

/**
 * A temporary file beside the object's place, synced, that gets its name by a rename which fails if the name is taken. For
 * HDFS, whose name node does that in one step.
 */
final class RenamingCreator implements ObjectCreator {

    private final HadoopObjectStore.Connection connection;
    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;
    private final FileContext files;

    RenamingCreator(HadoopObjectStore.Connection connection) throws IOException {
        this.connection = connection;
        this.fileSystem = connection.fileSystem();
        this.paths = connection.paths();
        this.retries = connection.retries();
        // The rename of FileSystem may replace; only this one can be told not to.
        this.files = FileContext.getFileContext(fileSystem.getUri(), connection.configuration());
    }

    private static Path temporaryBeside(Path target) {
        return new Path(target.getParent(), ObjectPaths.TEMPORARY_PREFIX + RandomNames.next() + "-" + target.getName());
    }

    private FSDataOutputStream create(Path temporary) throws IOException {
        return files.create(temporary, EnumSet.of(CreateFlag.CREATE, CreateFlag.SYNC_BLOCK), CreateOpts.createParent());
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        Path target = paths.newObject(name);
        String where = paths.describe(name);
        Path temporary = retries.call("write", where, () -> {
            if (fileSystem.exists(target)) {
                return null;
            }
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
        });
        return temporary != null && publish(temporary, target, where);
    }

    /** Gives the file its name; returns whether the name was free. The temporary file is gone afterwards, either way. */
    private boolean publish(Path temporary, Path target, String where) throws IOException {
        boolean[] sent = new boolean[1];
        try {
            return retries.call("write", where, () -> {
                try {
                    boolean again = sent[0];
                    sent[0] = true;
                    if (again && !fileSystem.exists(temporary)) {
                        // The reply was lost, not the rename.
                        return true;
                    }
                    files.rename(temporary, target, Rename.NONE);
                    return true;
                } catch (FileAlreadyExistsException e) {
                    // Taken by this very file, if that has left its place.
                    return !fileSystem.delete(temporary, false);
                } catch (FileNotFoundException e) {
                    throw new IOException("the temporary file " + temporary + " was removed", e);
                }
            });
        } catch (IOException e) {
            if (isGone(temporary)) {
                throw new UnknownOutcomeException(where, e);
            }
            deleteQuietly(temporary, e);
            throw e;
        }
    }

    /** Whether the file may have been renamed. */
    private boolean isGone(Path temporary) {
        try {
            return !fileSystem.exists(temporary);
        } catch (IOException e) {
            return true;
        }
    }

    /** What it says has been said: a stream of HDFS throws its first failure again. */
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
            // What is left is listed as unfinished and removed by a later clean-up.
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
            if (!publish(temporary, target, where)) {
                throw new IOException("Cannot write " + where + ": it is there already");
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
