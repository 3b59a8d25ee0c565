package dev.stoker.storage.cloud;

import com.google.api.client.http.HttpRequest;
import com.google.api.client.http.HttpRequestInitializer;
import com.google.auth.http.HttpCredentialsAdapter;
import com.google.auth.oauth2.GoogleCredentials;
import dev.stoker.storage.retry.StoreFailureKind;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Adds credentials and time limits to requests. Finds the credentials with the first request. Thread-safe. */
final class GoogleAccess implements HttpRequestInitializer {

    private static final String SCOPE = "https://www.googleapis.com/auth/devstorage.read_write";
    private static final int CONNECT_MS = 15_000;
    private static final int SILENCE_MS = 20_000;

    private final boolean isNeeded;
    private @Nullable HttpCredentialsAdapter credentials;

    /** @param isNeeded whether the server knows credentials */
    GoogleAccess(boolean isNeeded) {
        this.isNeeded = isNeeded;
    }

    @Override
    public void initialize(HttpRequest request) throws IOException {
        if (isNeeded) {
            // Repeats a request once if the token was refused because it has expired.
            credentials().initialize(request);
        }
        request.setNumberOfRetries(1);
        request.setConnectTimeout(CONNECT_MS);
        request.setReadTimeout(SILENCE_MS);
    }

    private synchronized HttpCredentialsAdapter credentials() throws IOException {
        HttpCredentialsAdapter known = credentials;
        if (known == null) {
            try {
                known = new HttpCredentialsAdapter(
                        GoogleCredentials.getApplicationDefault().createScoped(List.of(SCOPE)));
            } catch (IOException e) {
                String reason = e.getMessage() == null ? "" : e.getMessage();
                throw new BucketException(
                        StoreFailureKind.DENIED,
                        reason.contains("default credentials were not found")
                                ? "no credentials of Google were found: set GOOGLE_APPLICATION_CREDENTIALS to the file"
                                        + " of a service account, or run `gcloud auth application-default login`"
                                : "the credentials of Google cannot be used: "
                                        + reason.lines().findFirst().orElse(""),
                        e);
            }
            credentials = known;
        }
        return known;
    }
}
