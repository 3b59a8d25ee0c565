package dev.stoker.storage.cloud;

import com.azure.core.http.HttpClient;
import com.azure.core.http.HttpHeader;
import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Sends the requests of Microsoft's client with the JDK's blocking client, which has no threads and limits the time
 * between two bytes. Microsoft's own adapters pass every 8 KiB to another thread for such a limit. Thread-safe.
 */
final class AzureHttp implements HttpClient {

    /** Context of a request whose reply is read as a stream. */
    static final Context STREAMED = new Context("stoker-streamed", true);

    private static final int CONNECT_MS = 15_000;
    private static final int SILENCE_MS = 20_000;

    @Override
    public Mono<HttpResponse> send(HttpRequest request) {
        return send(request, Context.NONE);
    }

    @Override
    public Mono<HttpResponse> send(HttpRequest request, Context context) {
        return Mono.fromCallable(() -> sendSync(request, context));
    }

    @Override
    public HttpResponse sendSync(HttpRequest request, Context context) {
        boolean isStreamed = context.getData("stoker-streamed").isPresent();
        try {
            HttpURLConnection connection = connect(request);
            int status;
            try {
                send(request, connection);
                status = connection.getResponseCode();
            } catch (HttpRetryException e) {
                // The JDK cannot repeat a stream with other credentials.
                return new AzureReply(request, e.responseCode(), new HttpHeaders(), BinaryData.fromBytes(new byte[0]));
            }
            boolean isError = status >= HttpURLConnection.HTTP_BAD_REQUEST;
            InputStream body = isError ? connection.getErrorStream() : connection.getInputStream();
            InputStream present = body == null ? InputStream.nullInputStream() : body;
            if (isStreamed && !isError) {
                return new AzureReply(request, status, headers(connection), BinaryData.fromStream(present));
            }
            try (present) {
                return new AzureReply(
                        request, status, headers(connection), BinaryData.fromBytes(present.readAllBytes()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static HttpURLConnection connect(HttpRequest request) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) request.getUrl().openConnection();
        connection.setConnectTimeout(CONNECT_MS);
        connection.setReadTimeout(SILENCE_MS);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setRequestMethod(request.getHttpMethod().toString());
        for (HttpHeader header : request.getHeaders()) {
            connection.setRequestProperty(header.getName(), header.getValue());
        }
        return connection;
    }

    private static void send(HttpRequest request, HttpURLConnection connection) throws IOException {
        BinaryData content = request.getBodyAsBinaryData();
        if (content == null) {
            return;
        }
        connection.setDoOutput(true);
        Long length = content.getLength();
        // The JDK repeats requests that it does not stream.
        if (length == null) {
            connection.setChunkedStreamingMode(0);
        } else {
            connection.setFixedLengthStreamingMode(length);
        }
        try (OutputStream out = connection.getOutputStream();
                InputStream in = content.toStream()) {
            in.transferTo(out);
        }
    }

    private static HttpHeaders headers(HttpURLConnection connection) {
        HttpHeaders headers = new HttpHeaders();
        for (Map.Entry<String, List<String>> header :
                connection.getHeaderFields().entrySet()) {
            // The status line has no name.
            if (header.getKey() != null) {
                headers.set(HttpHeaderName.fromString(header.getKey()), header.getValue());
            }
        }
        return headers;
    }
}
