package dev.stoker.storage.hadoop;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Queue;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DirectoryListing;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A listing, page by page. A failed call can be repeated, which the listings of S3A do not allow from their second page
 * on. The store begins behind a name if it can, so that the names before it cost nothing. It may still return names
 * before it; the caller leaves them out.
 */
abstract class ListingPages implements RemoteIterator<FileStatus> {

    private final Queue<FileStatus> page = new ArrayDeque<>();
    private boolean isLast;

    /**
     * Returns the listing of all objects below a directory of an object store, or of the entries of another directory.
     *
     * @param directory ends with a slash, or is empty
     * @param after the name to begin behind, or empty
     * @return empty where only Hadoop's own listing will do
     */
    static Optional<ListingPages> of(HadoopObjectStore.Connection connection, String directory, String after) {
        // Stores sort by bytes and Stoker by UTF-16 code units: for ASCII that is the same.
        boolean canSkip = after.startsWith(directory) && after.chars().allMatch(c -> c < 0x80);
        // Where there is no S3, its classes may be missing.
        if (connection.isObjectStore()) {
            return S3.of(connection, directory, canSkip ? after : "", "");
        }
        return canSkip ? Hdfs.of(connection, directory, after) : Optional.empty();
    }

    /** Returns the listing of the direct entries of a directory, as {@link #of}. */
    static Optional<ListingPages> ofEntries(HadoopObjectStore.Connection connection, String directory) {
        return connection.isObjectStore() ? S3.of(connection, directory, "", "/") : Optional.empty();
    }

    /** Adds the next page to the entries, if there is one, and returns whether it is the last. */
    abstract boolean read(Queue<FileStatus> entries) throws IOException;

    @Override
    public boolean hasNext() throws IOException {
        while (page.isEmpty() && !isLast) {
            isLast = read(page);
        }
        return !page.isEmpty();
    }

    @Override
    public FileStatus next() throws IOException {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return page.remove();
    }

    /** All keys below a directory, or up to a delimiter. */
    private static final class S3 extends ListingPages {
        private final HadoopObjectStore.Connection connection;
        private final S3AFileSystem fileSystem;
        private final ListObjectsV2Request first;
        private @Nullable String continuation;

        S3(HadoopObjectStore.Connection connection, S3AFileSystem fileSystem, ListObjectsV2Request first) {
            this.connection = connection;
            this.fileSystem = fileSystem;
            this.first = first;
        }

        static Optional<ListingPages> of(
                HadoopObjectStore.Connection connection, String directory, String after, String delimiter) {
            Configuration conf = connection.configuration();
            // A directory bucket lists in no order, the first version of the request is another one, and objects that
            // the client encrypts are listed with other lengths.
            if (!(connection.fileSystem() instanceof S3AFileSystem s3a)
                    || s3a.getBucket().endsWith("--x-s3")
                    || conf.getInt("fs.s3a.list.version", 2) != 2
                    || conf.getTrimmed("fs.s3a.encryption.algorithm", "").startsWith("CSE")) {
                return Optional.empty();
            }
            ListObjectsV2Request first = ListObjectsV2Request.builder()
                    .bucket(s3a.getBucket())
                    .prefix(connection.paths().key(directory))
                    .startAfter(after.isEmpty() ? null : connection.paths().key(after))
                    .delimiter(delimiter.isEmpty() ? null : delimiter)
                    .maxKeys(conf.getInt("fs.s3a.paging.maximum", 1000))
                    .build();
            return Optional.of(new S3(connection, s3a, first));
        }

        @Override
        boolean read(Queue<FileStatus> entries) throws IOException {
            ListObjectsV2Request request = continuation == null
                    ? first
                    : first.toBuilder().continuationToken(continuation).build();
            ListObjectsV2Response reply;
            try (AuditSpan span = fileSystem.createSpan("list_pages", first.prefix(), null)) {
                span.activate();
                reply = fileSystem.getS3AInternals().getAmazonS3Client("list").listObjectsV2(request);
            } catch (SdkException e) {
                throw S3AUtils.translateException("list", first.prefix(), e);
            }
            for (CommonPrefix below : reply.commonPrefixes()) {
                Path path = connection.paths().ofKey(below.prefix());
                // Hadoop takes an empty part of a key, or one of dots, for no part or another directory.
                if (below.prefix().equals(first.prefix() + path.getName() + "/")) {
                    entries.add(new FileStatus(0, true, 1, 0, 0, path));
                }
            }
            for (S3Object object : reply.contents()) {
                // Some tools create an empty object with one of these names for a directory.
                if (!object.key().endsWith("/") && !object.key().endsWith("_$folder$")) {
                    Path path = connection.paths().ofKey(object.key());
                    long modifiedMs = object.lastModified().toEpochMilli();
                    entries.add(new FileStatus(object.size(), false, 1, 0, modifiedMs, path));
                }
            }
            continuation = reply.nextContinuationToken();
            return !Boolean.TRUE.equals(reply.isTruncated()) || continuation == null;
        }
    }

    /** Pages of the direct entries of a directory. */
    private static final class Hdfs extends ListingPages {
        private final DistributedFileSystem fileSystem;
        private final Path directory;
        private byte[] last;

        Hdfs(DistributedFileSystem fileSystem, Path directory, String after) {
            this.fileSystem = fileSystem;
            this.directory = directory;
            // The listing must include a directory of exactly this name, because its entries sort after it.
            String name = after.substring(after.lastIndexOf('/') + 1, after.length() - 1);
            this.last = name.getBytes(StandardCharsets.US_ASCII);
        }

        static Optional<ListingPages> of(HadoopObjectStore.Connection connection, String directory, String after) {
            boolean isWithin = after.length() > directory.length() && after.indexOf('/', directory.length()) < 0;
            return connection.fileSystem() instanceof DistributedFileSystem hdfs && isWithin
                    ? Optional.of(new Hdfs(hdfs, connection.paths().directory(directory), after))
                    : Optional.empty();
        }

        @Override
        boolean read(Queue<FileStatus> entries) throws IOException {
            DirectoryListing listing =
                    fileSystem.getClient().listPaths(directory.toUri().getPath(), last);
            if (listing == null) {
                throw new FileNotFoundException(directory.toString());
            }
            for (HdfsFileStatus status : List.of(listing.getPartialListing())) {
                entries.add(status.makeQualified(fileSystem.getUri(), directory));
            }
            last = listing.getLastName();
            return !listing.hasMore();
        }
    }
}
