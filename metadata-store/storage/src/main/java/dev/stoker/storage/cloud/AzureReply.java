package dev.stoker.storage.cloud;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.core.util.BinaryData;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A reply for Microsoft's client, with its body in memory or as a stream. */
final class AzureReply extends HttpResponse {

    private final int status;
    private final HttpHeaders headers;
    private final BinaryData body;

    AzureReply(HttpRequest request, int status, HttpHeaders headers, BinaryData body) {
        super(request);
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    @Override
    public int getStatusCode() {
        return status;
    }

    @Override
    @Deprecated
    public @Nullable String getHeaderValue(String name) {
        return headers.getValue(HttpHeaderName.fromString(name));
    }

    @Override
    public HttpHeaders getHeaders() {
        return headers;
    }

    @Override
    public BinaryData getBodyAsBinaryData() {
        return body;
    }

    @Override
    public InputStream getBodyAsInputStreamSync() {
        return body.toStream();
    }

    @Override
    public Flux<ByteBuffer> getBody() {
        return body.toFluxByteBuffer();
    }

    @Override
    public Mono<byte[]> getBodyAsByteArray() {
        return Mono.fromSupplier(body::toBytes);
    }

    @Override
    public Mono<String> getBodyAsString() {
        return getBodyAsString(StandardCharsets.UTF_8);
    }

    @Override
    public Mono<String> getBodyAsString(Charset charset) {
        return Mono.fromSupplier(() -> new String(body.toBytes(), charset));
    }

    @Override
    public void close() {
        try {
            body.toStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
