package dev.stoker.storage.cloud;

import com.google.api.client.googleapis.json.GoogleJsonError;
import com.google.api.client.googleapis.json.GoogleJsonResponseException;
import com.google.api.client.http.HttpResponse;
import com.google.api.client.http.HttpResponseException;
import com.google.api.client.json.gson.GsonFactory;
import com.google.auth.Retryable;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Translates errors of Google's client. */
final class GoogleErrors {

    private static final int NOT_FOUND = 404;

    private GoogleErrors() {}

    /** Returns the status of the answer; 0 if there was none. */
    static int status(IOException e) {
        return e instanceof HttpResponseException answer ? answer.getStatusCode() : 0;
    }

    static IOException translate(HttpResponse reply, String bucket) {
        return translate(GoogleJsonResponseException.from(GsonFactory.getDefaultInstance(), reply), bucket);
    }

    static IOException translate(IOException e, String bucket) {
        if (e instanceof HttpResponseException answer) {
            return answered(answer, bucket);
        }
        if (e instanceof Retryable access && !access.isRetryable()) {
            return new BucketException(
                    StoreFailureKind.DENIED, "Google refused the credentials: " + firstLine(e.getMessage()), e);
        }
        return e;
    }

    /** As {@link #translate(IOException, String)}, for a request that fails with 404 only without the bucket. */
    static IOException translateOfBucket(IOException e, String bucket) {
        return status(e) == NOT_FOUND ? noBucket(bucket, e) : translate(e, bucket);
    }

    private static BucketException noBucket(String bucket, IOException e) {
        return new BucketException(
                StoreFailureKind.REFUSED,
                "there is no bucket " + bucket
                        + "; check its name, or create it with `gcloud storage buckets create gs://" + bucket + "`",
                e);
    }

    private static IOException answered(HttpResponseException e, String bucket) {
        String message = message(e);
        if (e.getStatusCode() == NOT_FOUND) {
            if (message.contains("bucket does not exist")) {
                return noBucket(bucket, e);
            }
            FileNotFoundException absent = new FileNotFoundException(message);
            absent.initCause(e);
            return absent;
        }
        return new BucketException(
                CloudFailures.ofStatus(e.getStatusCode()),
                "HTTP " + e.getStatusCode() + (message.isEmpty() ? "" : " (" + message + ")"),
                e);
    }

    private static String message(HttpResponseException e) {
        GoogleJsonError details = e instanceof GoogleJsonResponseException json ? json.getDetails() : null;
        String message = details == null ? e.getContent() : details.getMessage();
        return firstLine(message == null ? e.getStatusMessage() : message);
    }

    private static String firstLine(@Nullable String text) {
        return text == null ? "" : text.lines().findFirst().orElse("").strip();
    }
}
