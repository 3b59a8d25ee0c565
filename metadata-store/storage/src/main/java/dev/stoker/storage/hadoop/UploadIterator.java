package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.MultipartUpload;

/**
 * Lists multipart uploads that were started but not completed. Their parts cost money until the uploads are aborted.
 */
final class UploadIterator implements ObjectIterator {

    /**
     * Identifies an upload with a name for {@link dev.stoker.storage.ObjectStore#delete}: the object's name, and below
     * it the upload's id.
     */
    record Upload(String name, String id) {
        String asName() {
            return name + "/" + ObjectPaths.TEMPORARY_PREFIX + URLEncoder.encode(id, StandardCharsets.UTF_8);
        }
    }

    private final S3AFileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;
    private final String prefix;
    private @Nullable RemoteIterator<MultipartUpload> uploads;
    private @Nullable ObjectInfo next;

    UploadIterator(S3AFileSystem fileSystem, ObjectPaths paths, Retries retries, String prefix) {
        this.fileSystem = fileSystem;
        this.paths = paths;
        this.retries = retries;
        this.prefix = prefix;
    }

    static Upload parse(String name) {
        int slash = name.lastIndexOf("/" + ObjectPaths.TEMPORARY_PREFIX);
        if (slash < 0) {
            throw new IllegalArgumentException("Not the name of an unfinished upload: " + name);
        }
        String id = name.substring(slash + 1 + ObjectPaths.TEMPORARY_PREFIX.length());
        return new Upload(name.substring(0, slash), URLDecoder.decode(id, StandardCharsets.UTF_8));
    }

    @Override
    public boolean hasNext() throws IOException {
        while (next == null) {
            Optional<MultipartUpload> listed = retries.call("list the uploads of", paths.toString(), this::advance);
            if (listed.isEmpty()) {
                return false;
            }
            MultipartUpload upload = listed.get();
            String start = paths.key("");
            if (upload.key().startsWith(start)) {
                String name = upload.key().substring(start.length());
                if (name.startsWith(prefix)) {
                    next = new ObjectInfo(
                            new Upload(name, upload.uploadId()).asName(),
                            0,
                            upload.initiated() == null ? 0 : upload.initiated().toEpochMilli());
                }
            }
        }
        return true;
    }

    private Optional<MultipartUpload> advance() throws IOException {
        if (uploads == null) {
            uploads = fileSystem.listUploads(paths.key(ObjectPaths.directoryOf(prefix)));
        }
        return uploads.hasNext() ? Optional.of(uploads.next()) : Optional.empty();
    }

    @Override
    public ObjectInfo next() throws IOException {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        ObjectInfo found = Objects.requireNonNull(next, "hasNext() sets it");
        next = null;
        return found;
    }
}
