package dev.stoker.storage.cloud;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.hadoop.Fault;
import dev.stoker.storage.hadoop.FaultProxy.Request;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full-stores")
class GoogleStoreTest extends CloudContract {

    @Override
    Emulator emulator() throws IOException {
        return Emulator.google();
    }

    @Override
    String uri(String bucket, String path) {
        return "gs://" + bucket + "/" + path;
    }

    @Override
    Map<String, String> environment(URI endpoint) {
        return Map.of("STORAGE_EMULATOR_HOST", endpoint.toString());
    }

    @Override
    boolean isCreate(Request request) {
        return request.method().equals("POST") && request.target().contains("uploadType=multipart");
    }

    @Override
    boolean isRead(Request request) {
        return request.method().equals("GET") && request.target().contains("alt=media");
    }

    @Override
    boolean isPiece(Request request) {
        return request.method().equals("PUT");
    }

    /** The emulator appends a piece each time that it receives it. Google ignores bytes that it has. */
    @Override
    Fault pieceFault() {
        return Fault.slowDown();
    }

    @Override
    boolean isCompletion(Request request) {
        return request.method().equals("PUT");
    }

    /** This version of the emulator does not compare generations when an upload ends. */
    @Test
    void aLargeObjectRequiresThatItsNameIsFree() throws IOException {
        proxy.resetCounts();
        try (ObjectWriter writer = store.write("a")) {
            writer.write(ByteBuffer.wrap(new byte[CloudWriter.PIECE_BYTES + 1]));
            writer.commit();
        }
        assertThat(proxy.log().stream().map(Request::target).filter(target -> target.contains("uploadType=resumable")))
                .first()
                .asString()
                .contains("ifGenerationMatch=0");
    }

    @Test
    void contentIsNotCompressed() throws IOException {
        proxy.resetCounts();
        store.createIfAbsent("a", new byte[100_000]);
        assertThat(proxy.bytesFromClients()).isGreaterThan(100_000);
        assertThat(direct.readAll("a", 100_000)).isEqualTo(new byte[100_000]);
    }

    @Test
    void aLocationWithoutABucketIsRefused() {
        assertThatThrownBy(() -> Emulator.open("gs:/photos", Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name of a bucket or container");
    }
}
