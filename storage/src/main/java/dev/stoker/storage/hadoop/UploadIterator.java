package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.NoSuchElementException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import software.amazon.awssdk.services.s3.model.MultipartUpload;

/** Lists multipart uploads that were begun and not completed. Their parts cost money until they are aborted. */
final class UploadIterator implements ObjectIterator {

    /**
     * An upload as a name for {@link dev.stoker.storage.ObjectStore#delete}: the object's name, and below it the
     * upload's id.
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
    private RemoteIterator<MultipartUpload> uploads;
    private ObjectInfo next;

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
            MultipartUpload upload = retries.call("list the uploads of", paths.toString(), this::advance);
            if (upload == null) {
                return false;
            }
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

    private MultipartUpload advance() throws IOException {
        if (uploads == null) {
            uploads = fileSystem.listUploads(paths.key(ObjectPaths.directoryOf(prefix)));
        }
        return uploads.hasNext() ? uploads.next() : null;
    }

    @Override
    public ObjectInfo next() throws IOException {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        ObjectInfo found = next;
        next = null;
        return found;
    }
}
