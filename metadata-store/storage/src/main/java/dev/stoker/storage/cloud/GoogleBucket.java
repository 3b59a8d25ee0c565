package dev.stoker.storage.cloud;

import com.google.api.client.http.ByteArrayContent;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpRequest;
import com.google.api.client.http.HttpResponse;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.json.gson.GsonFactory;
import com.google.api.services.storage.Storage;
import com.google.api.services.storage.model.Objects;
import com.google.api.services.storage.model.StorageObject;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.Failures;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A bucket of Google Cloud Storage, over its JSON interface. A conditional write requires that the object has
 * generation 0, which means that it does not exist.
 */
final class GoogleBucket implements Bucket {

    private static final String MARK = "stoker-writer";
    private static final String TYPE = "application/octet-stream";
    private static final String FIELDS = "name,size,updated,generation,metadata";
    private static final String ADDRESS = "https://storage.googleapis.com/";
    private static final Pattern CONTENT_RANGE = Pattern.compile("bytes (?:(\\d+)-\\d+|\\*)/(\\d+)");
    private static final int PAGE_SIZE = 1000;
    private static final int PARTIAL = 206;
    private static final int BEYOND_THE_END = 416;
    private static final int PRECONDITION_FAILED = 412;

    private final String name;
    private final Storage storage;
    private final CloudFailures failures = new CloudFailures();

    private GoogleBucket(String name, Storage storage) {
        this.name = name;
        this.storage = storage;
    }

    static GoogleBucket open(String name, CloudSettings settings) {
        // As for Google's own clients. Emulators know no credentials.
        String emulator = settings.get("STORAGE_EMULATOR_HOST").orElse("");
        String address = emulator.isEmpty() || emulator.contains("://") ? emulator : "http://" + emulator;
        NetHttpTransport http = new NetHttpTransport();
        GoogleAccess access = new GoogleAccess(emulator.isEmpty());
        Storage.Builder builder =
                new Storage.Builder(http, GsonFactory.getDefaultInstance(), access).setApplicationName("stoker");
        builder.setRootUrl(address.isEmpty() ? ADDRESS : address.endsWith("/") ? address : address + "/");
        return new GoogleBucket(name, builder.build());
    }

    @Override
    public String describe() {
        return "bucket " + name;
    }

    @Override
    public Failures failures() {
        return failures;
    }

    @Override
    public Found find(String key) throws IOException {
        try {
            return found(storage.objects().get(name, key).setFields(FIELDS).execute());
        } catch (IOException e) {
            throw GoogleErrors.translate(e, name);
        }
    }

    private static Found found(StorageObject object) {
        Map<String, String> metadata = object.getMetadata();
        String mark = metadata == null ? null : metadata.get(MARK);
        return new Found(
                object.getName(),
                object.getSize() == null ? 0 : object.getSize().longValue(),
                object.getUpdated() == null ? 0 : object.getUpdated().getValue(),
                String.valueOf(object.getGeneration()),
                mark == null ? "" : mark);
    }

    @Override
    public Body read(String key, long offset, long length) throws IOException {
        HttpResponse reply;
        try {
            Storage.Objects.Get get = storage.objects().get(name, key);
            get.set("alt", "media");
            HttpRequest request = get.buildHttpRequest();
            request.getHeaders().setRange("bytes=" + offset + "-" + (offset + length - 1));
            request.setThrowExceptionOnExecuteError(false);
            // The stored bytes, even if they are compressed.
            request.setResponseReturnRawInputStream(true);
            reply = request.execute();
        } catch (IOException e) {
            throw GoogleErrors.translate(e, name);
        }
        if (reply.getStatusCode() == BEYOND_THE_END) {
            reply.disconnect();
            // Google does not state the length here.
            return new Body(new ByteArrayInputStream(new byte[0]), find(key).length());
        }
        if (!reply.isSuccessStatusCode()) {
            throw GoogleErrors.translate(reply, name);
        }
        return body(reply, offset);
    }

    private static Body body(HttpResponse reply, long offset) throws IOException {
        String range = reply.getHeaders().getContentRange();
        Matcher sent = CONTENT_RANGE.matcher(range == null ? "" : range);
        if (reply.getStatusCode() == PARTIAL && sent.matches() && sent.group(1) != null) {
            if (Long.parseLong(sent.group(1)) != offset) {
                reply.disconnect();
                throw new BrokenReadException("requested bytes from " + offset + ", but the reply has " + range);
            }
            return new Body(reply.getContent(), Long.parseLong(sent.group(2)));
        }
        Long whole = reply.getHeaders().getContentLength();
        if (offset == 0 && whole != null) {
            // The answer to a range of the whole object may be the whole object.
            return new Body(
                    reply.getContent() == null ? new ByteArrayInputStream(new byte[0]) : reply.getContent(), whole);
        }
        reply.disconnect();
        throw new BrokenReadException("requested bytes from " + offset + ", but the reply is another range: " + range);
    }

    @Override
    public Page list(String prefix, String from, Depth depth, @Nullable String page) throws IOException {
        try {
            Storage.Objects.List list = storage.objects()
                    .list(name)
                    .setMaxResults((long) PAGE_SIZE)
                    .setFields("nextPageToken,prefixes,items(name,size,updated,generation)");
            if (!prefix.isEmpty()) {
                list.setPrefix(prefix);
            }
            if (!from.isEmpty()) {
                list.setStartOffset(from);
            }
            if (depth == Depth.ONE_LEVEL) {
                list.setDelimiter("/");
            }
            if (page != null) {
                list.setPageToken(page);
            }
            Objects reply = list.execute();
            List<Found> objects = new ArrayList<>();
            if (reply.getItems() != null) {
                reply.getItems().forEach(item -> objects.add(found(item)));
            }
            List<String> directories = reply.getPrefixes() == null ? List.of() : reply.getPrefixes();
            return new Page(objects, directories, reply.getNextPageToken());
        } catch (IOException e) {
            throw GoogleErrors.translateOfBucket(e, name);
        }
    }

    private boolean insert(String key, byte[] content, int length, Map<String, String> metadata, long generation)
            throws IOException {
        try {
            Storage.Objects.Insert insert = storage.objects()
                    .insert(
                            name,
                            new StorageObject().setName(key).setMetadata(metadata),
                            new ByteArrayContent(TYPE, content, 0, length))
                    .setIfGenerationMatch(generation)
                    .setFields("generation");
            // Samples are compressed already.
            insert.setDisableGZipContent(true);
            // One request with the metadata and the content.
            insert.getMediaHttpUploader().setDirectUploadEnabled(true);
            insert.execute();
            return true;
        } catch (IOException e) {
            if (GoogleErrors.status(e) == PRECONDITION_FAILED) {
                return false;
            }
            throw GoogleErrors.translateOfBucket(e, name);
        }
    }

    @Override
    public boolean create(String key, byte[] content, int length, String mark) throws IOException {
        return insert(key, content, length, Map.of(MARK, mark), 0);
    }

    @Override
    public boolean replace(String key, byte[] content, String tag) throws IOException {
        return insert(key, content, content.length, Map.of(), Long.parseLong(tag));
    }

    @Override
    public Upload upload(String key, String mark) throws IOException {
        GenericUrl url = new GenericUrl(storage.getRootUrl());
        url.setPathParts(List.of("", "upload", "storage", "v1", "b", name, "o"));
        url.put("uploadType", "resumable");
        url.put("ifGenerationMatch", "0");
        return GoogleUpload.start(
                storage, name, url, new StorageObject().setName(key).setMetadata(Map.of(MARK, mark)));
    }

    @Override
    public boolean delete(String key) throws IOException {
        try {
            storage.objects().delete(name, key).execute();
            return true;
        } catch (IOException e) {
            IOException translated = GoogleErrors.translate(e, name);
            if (translated instanceof FileNotFoundException) {
                return false;
            }
            throw translated;
        }
    }

    @Override
    public void close() throws IOException {
        storage.getRequestFactory().getTransport().shutdown();
    }
}
