package dev.stoker.storage.cloud;

import com.google.api.client.http.ByteArrayContent;
import com.google.api.client.http.EmptyContent;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpRequest;
import com.google.api.client.http.HttpResponse;
import com.google.api.client.http.json.JsonHttpContent;
import com.google.api.services.storage.Storage;
import com.google.api.services.storage.model.StorageObject;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.IOException;

/**
 * A resumable upload of Google Cloud Storage. Google ignores bytes that it has already received, so a piece can be sent
 * again.
 */
final class GoogleUpload implements Bucket.Upload {

    private static final String TYPE = "application/octet-stream";
    private static final int INCOMPLETE = 308;
    private static final int PRECONDITION_FAILED = 412;

    private final Storage storage;
    private final String bucket;
    private final GenericUrl session;

    private GoogleUpload(Storage storage, String bucket, GenericUrl session) {
        this.storage = storage;
        this.bucket = bucket;
        this.session = session;
    }

    static GoogleUpload start(Storage storage, String bucket, GenericUrl url, StorageObject object) throws IOException {
        HttpRequest request = storage.getRequestFactory()
                .buildPostRequest(url, new JsonHttpContent(storage.getJsonFactory(), object));
        request.getHeaders().set("X-Upload-Content-Type", TYPE);
        request.setThrowExceptionOnExecuteError(false);
        HttpResponse reply = execute(request, bucket);
        try {
            String session = reply.getHeaders().getLocation();
            if (session == null) {
                throw new BucketException(
                        StoreFailureKind.TRANSIENT,
                        "the reply has no address for the upload",
                        new IOException(url.build()));
            }
            return new GoogleUpload(storage, bucket, new GenericUrl(session, true));
        } finally {
            reply.disconnect();
        }
    }

    private static HttpResponse execute(HttpRequest request, String bucket) throws IOException {
        HttpResponse reply;
        try {
            reply = request.execute();
        } catch (IOException e) {
            throw GoogleErrors.translate(e, bucket);
        }
        int status = reply.getStatusCode();
        if (reply.isSuccessStatusCode() || status == INCOMPLETE || status == PRECONDITION_FAILED) {
            return reply;
        }
        throw GoogleErrors.translate(reply, bucket);
    }

    /** Returns the status of the answer. */
    private int put(int number, byte[] piece, int length, String total) throws IOException {
        long start = (long) number * CloudWriter.PIECE_BYTES;
        HttpRequest request =
                storage.getRequestFactory().buildPutRequest(session, new ByteArrayContent(TYPE, piece, 0, length));
        request.getHeaders()
                .setContentRange("bytes " + (length == 0 ? "*" : start + "-" + (start + length - 1)) + "/" + total);
        request.setThrowExceptionOnExecuteError(false);
        request.setFollowRedirects(false);
        HttpResponse reply = execute(request, bucket);
        try {
            long expected = start + length;
            String received = reply.getHeaders().getRange();
            if (reply.getStatusCode() == INCOMPLETE && !("bytes=0-" + (expected - 1)).equals(received)) {
                throw new BucketException(
                        StoreFailureKind.TRANSIENT,
                        "Google has received " + received + " of " + expected + " bytes",
                        new IOException("incomplete piece"));
            }
            return reply.getStatusCode();
        } finally {
            reply.disconnect();
        }
    }

    @Override
    public void send(int number, byte[] piece) throws IOException {
        int status = put(number, piece, piece.length, "*");
        if (status != INCOMPLETE) {
            throw new BucketException(
                    StoreFailureKind.REFUSED,
                    "Google answered HTTP " + status + " to a piece of an upload",
                    new IOException("unexpected status"));
        }
    }

    @Override
    public boolean finish(int number, byte[] piece, int length) throws IOException {
        long total = (long) number * CloudWriter.PIECE_BYTES + length;
        int status = put(number, piece, length, Long.toString(total));
        if (status == INCOMPLETE) {
            throw new BucketException(
                    StoreFailureKind.TRANSIENT, "Google has not completed the upload", new IOException("incomplete"));
        }
        return status != PRECONDITION_FAILED;
    }

    @Override
    public void abort() throws IOException {
        HttpRequest request = storage.getRequestFactory().buildDeleteRequest(session);
        request.setContent(new EmptyContent());
        request.setThrowExceptionOnExecuteError(false);
        request.execute().disconnect();
    }
}
