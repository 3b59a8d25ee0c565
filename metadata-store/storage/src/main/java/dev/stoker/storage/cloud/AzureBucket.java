package dev.stoker.storage.cloud;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpMethod;
import com.azure.core.http.HttpPipeline;
import com.azure.core.http.HttpPipelineBuilder;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.AddDatePolicy;
import com.azure.core.http.policy.HttpPipelinePolicy;
import com.azure.core.http.policy.RequestIdPolicy;
import com.azure.core.http.policy.UserAgentPolicy;
import com.azure.core.http.rest.PagedIterable;
import com.azure.core.http.rest.PagedResponse;
import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobContainerClientBuilder;
import com.azure.storage.blob.models.BlobErrorCode;
import com.azure.storage.blob.models.BlobItem;
import com.azure.storage.blob.models.BlobListDetails;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.BlobStorageException;
import com.azure.storage.blob.models.DeleteSnapshotsOptionType;
import com.azure.storage.blob.models.ListBlobsOptions;
import com.azure.storage.blob.options.BlockBlobSimpleUploadOptions;
import com.azure.storage.blob.specialized.BlockBlobClient;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.Failures;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A container of Azure Blob Storage, or of Data Lake Storage through the same interface. A conditional write requires
 * that no blob has the name ({@code If-None-Match: *}).
 */
final class AzureBucket implements Bucket {

    /** A name of metadata must be an identifier. */
    static final String MARK = "stoker_writer";

    /** Metadata of empty blobs that stand for directories. */
    private static final String DIRECTORY = "hdi_isfolder";

    private static final HttpHeaderName DIRECTORY_HEADER = HttpHeaderName.fromString("x-ms-meta-" + DIRECTORY);
    private static final HttpHeaderName VERSION = HttpHeaderName.fromString("x-ms-version");
    private static final HttpHeaderName CODE = HttpHeaderName.fromString("x-ms-error-code");
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (?:(\\d+)-\\d+|\\*)/(\\d+)");
    static final int PAGE_SIZE = 5000;
    private static final int OK = 200;
    private static final int PARTIAL = 206;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int BEYOND_THE_END = 416;

    private final AzureAddress address;
    private final BlobContainerClient container;
    private final int pageSize;
    private final AzureErrors errors;
    private final CloudFailures failures = new CloudFailures();

    private AzureBucket(AzureAddress address, BlobContainerClient container, int pageSize, AzureErrors errors) {
        this.address = address;
        this.container = container;
        this.pageSize = pageSize;
        this.errors = errors;
    }

    static AzureBucket open(AzureAddress address, CloudSettings settings, int pageSize) {
        AzureHttp http = new AzureHttp();
        AzureAccess.Found access = AzureAccess.find(address, settings, http);
        List<HttpPipelinePolicy> policies =
                new ArrayList<>(List.of(new UserAgentPolicy("stoker"), new RequestIdPolicy(), new AddDatePolicy()));
        if (access.policy() != null) {
            policies.add(access.policy());
        }
        // Without the client's own retries and its log of failed attempts.
        HttpPipeline pipeline = new HttpPipelineBuilder()
                .httpClient(http)
                .policies(policies.toArray(new HttpPipelinePolicy[0]))
                .build();
        BlobContainerClient container = new BlobContainerClientBuilder()
                .endpoint(address.containerUrl())
                .pipeline(pipeline)
                .buildClient();
        // The client takes a part of some paths for the container.
        if (!container.getBlobContainerUrl().equals(address.containerUrl())) {
            throw new IllegalArgumentException("the address of the Azure account is " + address.endpoint()
                    + "; expected https://HOST, or http://IP:PORT/ACCOUNT for an emulator: correct AZURE_ENDPOINT or"
                    + " AZURE_STORAGE_ENDPOINT");
        }
        return new AzureBucket(address, container, pageSize, new AzureErrors(address, access.name()));
    }

    @Override
    public String describe() {
        return "container " + address.container();
    }

    @Override
    public Failures failures() {
        return failures;
    }

    private BlockBlobClient blob(String key) {
        return container.getBlobClient(key).getBlockBlobClient();
    }

    private static boolean isDirectory(@Nullable Map<String, String> metadata) {
        return metadata != null
                && metadata.entrySet().stream()
                        .anyMatch(entry ->
                                entry.getKey().equalsIgnoreCase(DIRECTORY) && Boolean.parseBoolean(entry.getValue()));
    }

    private BlobProperties properties(String key) throws IOException {
        try {
            return blob(key).getProperties();
        } catch (RuntimeException e) {
            throw errors.translate(e);
        }
    }

    @Override
    public Found find(String key) throws IOException {
        BlobProperties found = properties(key);
        Map<String, String> metadata = found.getMetadata();
        if (isDirectory(metadata)) {
            throw new FileNotFoundException(key + " is a directory");
        }
        String mark = metadata == null ? null : metadata.get(MARK);
        return new Found(
                key, found.getBlobSize(), ms(found.getLastModified()), found.getETag(), mark == null ? "" : mark);
    }

    private static long ms(@Nullable OffsetDateTime time) {
        return time == null ? 0 : time.toInstant().toEpochMilli();
    }

    @Override
    public boolean isEmptyDirectory(String key) throws IOException {
        try {
            return isDirectory(properties(key).getMetadata());
        } catch (FileNotFoundException e) {
            return false;
        }
    }

    @Override
    public Body read(String key, long offset, long length) throws IOException {
        HttpRequest request = new HttpRequest(HttpMethod.GET, blob(key).getBlobUrl())
                .setHeader(HttpHeaderName.RANGE, "bytes=" + offset + "-" + (offset + length - 1))
                // Is part of the signature, and not sent.
                .setHeader(HttpHeaderName.CONTENT_LENGTH, "0")
                .setHeader(VERSION, container.getServiceVersion().getVersion());
        HttpResponse reply;
        try {
            reply = container.getHttpPipeline().sendSync(request, AzureHttp.STREAMED);
        } catch (RuntimeException e) {
            throw errors.translate(e);
        }
        int status = reply.getStatusCode();
        if (status == OK || status == PARTIAL) {
            return body(key, reply, offset);
        }
        if (status == BEYOND_THE_END) {
            // The key may be a directory.
            return new Body(InputStream.nullInputStream(), find(key).length());
        }
        throw refused(key, reply);
    }

    private IOException refused(String key, HttpResponse reply) {
        String header = reply.getHeaders().getValue(CODE);
        String code = header == null ? "" : header;
        IOException cause = new IOException("HTTP " + reply.getStatusCode() + " " + code);
        if (code.equals(BlobErrorCode.CONTAINER_NOT_FOUND.toString())) {
            return errors.noContainer(cause);
        }
        if (reply.getStatusCode() == NOT_FOUND) {
            return new FileNotFoundException(key);
        }
        String body = reply.getBodyAsBinaryData().toString();
        return errors.refused(reply.getStatusCode(), code, AzureErrors.message(body), cause);
    }

    private static Matcher range(HttpResponse reply) {
        String range = reply.getHeaders().getValue(HttpHeaderName.CONTENT_RANGE);
        return CONTENT_RANGE.matcher(range == null ? "" : range);
    }

    private static Body body(String key, HttpResponse reply, long offset) throws IOException {
        InputStream content = reply.getBodyAsBinaryData().toStream();
        if (Boolean.parseBoolean(reply.getHeaders().getValue(DIRECTORY_HEADER))) {
            content.close();
            throw new FileNotFoundException(key + " is a directory");
        }
        Matcher sent = range(reply);
        if (reply.getStatusCode() == PARTIAL && sent.matches() && sent.group(1) != null) {
            if (Long.parseLong(sent.group(1)) == offset) {
                return new Body(content, Long.parseLong(sent.group(2)));
            }
        } else if (offset == 0) {
            // The answer to a range of the whole object may be the whole object.
            String whole = reply.getHeaders().getValue(HttpHeaderName.CONTENT_LENGTH);
            if (whole != null) {
                return new Body(content, Long.parseLong(whole));
            }
        }
        content.close();
        throw new BrokenReadException("requested bytes from " + offset + ", but the reply is another range: "
                + reply.getHeaders().getValue(HttpHeaderName.CONTENT_RANGE));
    }

    @Override
    public Page list(String prefix, String from, Depth depth, @Nullable String page) throws IOException {
        ListBlobsOptions options = new ListBlobsOptions()
                .setMaxResultsPerPage(pageSize)
                .setDetails(new BlobListDetails().setRetrieveMetadata(true));
        if (!prefix.isEmpty()) {
            options.setPrefix(prefix);
        }
        try {
            PagedIterable<BlobItem> all = depth == Depth.ALL
                    ? container.listBlobs(options, null)
                    : container.listBlobsByHierarchy("/", options, null);
            PagedResponse<BlobItem> reply = all.iterableByPage(page).iterator().next();
            List<Found> objects = new ArrayList<>();
            List<String> directories = new ArrayList<>();
            for (BlobItem item : reply.getValue()) {
                if (Boolean.TRUE.equals(item.isPrefix())) {
                    directories.add(item.getName());
                } else if (!isDirectory(item.getMetadata())) {
                    objects.add(found(item));
                }
            }
            String next = reply.getContinuationToken();
            return new Page(objects, directories, next == null || next.isEmpty() ? null : next);
        } catch (RuntimeException e) {
            throw errors.translate(e);
        }
    }

    private static Found found(BlobItem item) {
        Long length = item.getProperties().getContentLength();
        String mark = item.getMetadata() == null ? null : item.getMetadata().get(MARK);
        return new Found(
                item.getName(),
                length == null ? 0 : length,
                ms(item.getProperties().getLastModified()),
                String.valueOf(item.getProperties().getETag()),
                mark == null ? "" : mark);
    }

    /** Returns whether a conditional write was refused because the object exists, or has another tag. */
    static boolean isRefusedByCondition(RuntimeException e) {
        if (!(e instanceof BlobStorageException answer)) {
            return false;
        }
        BlobErrorCode code = answer.getErrorCode();
        return answer.getStatusCode() == PRECONDITION_FAILED
                || (answer.getStatusCode() == CONFLICT
                        && (BlobErrorCode.BLOB_ALREADY_EXISTS.equals(code)
                                || BlobErrorCode.BLOB_IMMUTABLE_DUE_TO_POLICY.equals(code)));
    }

    private boolean put(
            String key, byte[] content, int length, Map<String, String> metadata, BlobRequestConditions condition)
            throws IOException {
        try {
            blob(key)
                    .uploadWithResponse(
                            new BlockBlobSimpleUploadOptions(
                                            BinaryData.fromByteBuffer(ByteBuffer.wrap(content, 0, length)))
                                    .setMetadata(metadata)
                                    .setRequestConditions(condition),
                            null,
                            Context.NONE);
            return true;
        } catch (RuntimeException e) {
            if (isRefusedByCondition(e)) {
                return false;
            }
            throw errors.translate(e);
        }
    }

    @Override
    public boolean create(String key, byte[] content, int length, String mark) throws IOException {
        return put(key, content, length, Map.of(MARK, mark), new BlobRequestConditions().setIfNoneMatch("*"));
    }

    @Override
    public boolean replace(String key, byte[] content, String tag) throws IOException {
        return put(key, content, content.length, Map.of(), new BlobRequestConditions().setIfMatch(tag));
    }

    @Override
    public Upload upload(String key, String mark) {
        return new AzureUpload(blob(key), mark, errors);
    }

    @Override
    public boolean delete(String key) throws IOException {
        try {
            blob(key).deleteWithResponse(DeleteSnapshotsOptionType.INCLUDE, null, null, Context.NONE);
            return true;
        } catch (RuntimeException e) {
            IOException translated = errors.translate(e);
            if (translated instanceof FileNotFoundException) {
                return false;
            }
            throw translated;
        }
    }

    /** Idle connections belong to the JDK. */
    @Override
    public void close() {}
}
