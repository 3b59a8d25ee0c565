package dev.stoker.storage.hadoop;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.retry.Retries;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.impl.PutObjectOptions;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.NoSuchUploadException;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * Creates objects with conditional writes of S3 ({@code If-None-Match: *}). Each object has a random mark of its writer
 * as user metadata. If the client sends a write again after a lost reply, S3 rejects it because of the first attempt.
 * The mark identifies this case.
 */
final class ConditionalCreator implements ObjectCreator {

    private static final String MARK = "stoker-writer";

    /** Lists the possible owners of an existing object. */
    private enum Owner {
        NOBODY,
        SELF,
        OTHER
    }

    private final S3AFileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;

    ConditionalCreator(HadoopObjectStore.Connection connection) {
        this.fileSystem = (S3AFileSystem) connection.fileSystem();
        this.paths = connection.paths();
        this.retries = connection.retries();
    }

    private FSDataOutputStream create(Path target, String mark) throws IOException {
        FSDataOutputStreamBuilder<?, ?> builder = fileSystem.createFile(target);
        builder.overwrite(true);
        builder.recursive();
        builder.opt("fs.option.create.conditional.overwrite", true);
        builder.opt("fs.s3a.create.header." + MARK, mark);
        return (FSDataOutputStream) builder.build();
    }

    /** Sends one request. S3A's own writes repeat requests, so their exceptions do not tell about the first one. */
    private void put(Path target, String key, byte[] content, String mark) throws IOException {
        try (AuditSpan span = fileSystem.createSpan("create_if_absent", key, null)) {
            span.activate();
            PutObjectRequest request = fileSystem
                    .getRequestFactory()
                    .newPutObjectRequestBuilder(key, PutObjectOptions.defaultOptions(), content.length, false)
                    .metadata(Map.of(MARK, mark))
                    .ifNoneMatch("*")
                    .build();
            fileSystem
                    .getS3AInternals()
                    .getAmazonS3Client("create an object that is absent")
                    .putObject(request, RequestBody.fromBytes(content));
        } catch (SdkException e) {
            throw S3AUtils.translateException("create", target, e);
        }
    }

    private Owner owner(Path target, String mark) throws IOException {
        try {
            byte[] found = fileSystem.getXAttr(target, "header." + MARK);
            boolean own = found != null && new String(found, StandardCharsets.UTF_8).equals(mark);
            return own ? Owner.SELF : Owner.OTHER;
        } catch (FileNotFoundException e) {
            return Owner.NOBODY;
        }
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        Path target = paths.newObject(name);
        String where = paths.describe(name);
        String mark = RandomNames.next();
        boolean[] maybeCreated = new boolean[1];
        try {
            return retries.call("write", where, () -> {
                try {
                    put(target, paths.key(name), content, mark);
                    return true;
                } catch (IOException e) {
                    if (!S3Errors.isConflict(e)) {
                        maybeCreated[0] |= HadoopErrors.INSTANCE.mayHaveBeenDone(e);
                        throw e;
                    }
                    Owner owner = owner(target, mark);
                    if (owner == Owner.NOBODY) {
                        // The other writer has deleted it in the meantime, or has not finished: the server requests a
                        // retry.
                        throw new IOException("conflicting writes", e);
                    }
                    return owner == Owner.SELF;
                }
            });
        } catch (IOException e) {
            if (maybeCreated[0]) {
                throw new UnknownOutcomeException(where, e);
            }
            throw e;
        }
    }

    /**
     * Replaces the object that is there now ({@code If-Match}), so an object that another process deletes meanwhile
     * does not come back.
     */
    @Override
    public void replace(String name, byte[] content) throws IOException {
        Path target = paths.newObject(name);
        String where = paths.describe(name);
        retries.call("write", where, () -> {
            String tag = ((EtagSource) fileSystem.getFileStatus(target)).getEtag();
            FSDataOutputStreamBuilder<?, ?> builder = fileSystem.createFile(target);
            builder.overwrite(true);
            builder.opt("fs.option.create.conditional.overwrite.etag", tag);
            FSDataOutputStream out = (FSDataOutputStream) builder.build();
            try {
                out.write(content);
            } catch (IOException e) {
                out.abort();
                throw e;
            }
            try {
                out.close();
            } catch (IOException e) {
                // A write whose reply was lost has changed the tag. The next attempt reads the new one.
                throw S3Errors.isConflict(e) ? new IOException("conflicting writes", e) : e;
            }
            return true;
        });
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        Path target = paths.newObject(name);
        String where = paths.describe(name);
        String mark = RandomNames.next();
        return new Writer(target, where, mark, retries.call("write", where, () -> create(target, mark)));
    }

    private final class Writer implements ObjectWriter {
        private final Path target;
        private final String where;
        private final String mark;
        private final OpenFile file;
        private boolean done;

        Writer(Path target, String where, String mark, FSDataOutputStream out) {
            this.target = target;
            this.where = where;
            this.mark = mark;
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
            if (done) {
                throw new IllegalStateException("The writer of " + where + " is closed or committed");
            }
            done = true;
            IOException failure;
            try {
                file.out().close();
                return;
            } catch (IOException e) {
                failure = e;
            }
            // S3A may have sent the last request again, so each failure can follow a success whose reply was lost.
            boolean maybeCreated = HadoopErrors.INSTANCE.mayHaveBeenDone(failure);
            boolean conflict = S3Errors.isConflict(failure);
            Owner owner;
            try {
                owner = retries.call("find", where, () -> owner(target, mark));
            } catch (StokerException e) {
                if (!maybeCreated && !conflict) {
                    throw file.failed(failure);
                }
                e.addSuppressed(failure);
                throw new UnknownOutcomeException(where, e);
            }
            switch (owner) {
                case SELF -> {}
                case OTHER -> throw new IOException("Cannot write " + where + ": it already exists", failure);
                case NOBODY -> {
                    IOException explained = file.failed(failure);
                    throw maybeCreated && !conflict ? new UnknownOutcomeException(where, explained) : explained;
                }
            }
        }

        @Override
        public void close() {
            if (!done) {
                done = true;
                file.out().abort();
            }
        }
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) {
        return new UploadIterator(fileSystem, paths, retries, prefix);
    }

    @Override
    public boolean deleteUnfinished(String name) throws IOException {
        UploadIterator.Upload upload = UploadIterator.parse(name);
        return retries.call("delete", paths.describe(name), () -> {
            try {
                fileSystem.abortMultipartUpload(paths.key(upload.name()), upload.id());
                return true;
            } catch (NoSuchUploadException e) {
                return false;
            } catch (SdkException e) {
                throw S3AUtils.translateException("abort", paths.describe(name), e);
            }
        });
    }
}
