package dev.stoker.storage.cloud;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.azure.core.util.BinaryData;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobContainerClientBuilder;
import com.azure.storage.blob.options.BlockBlobSimpleUploadOptions;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.hadoop.Fault;
import dev.stoker.storage.hadoop.FaultProxy.Request;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("azurite")
@Tag("full-stores")
class AzureStoreTest extends CloudContract {

    private static final String KEY = "AZURE_STORAGE_ACCOUNT_KEY";
    private static final String SHARED_ACCESS = "AZURE_STORAGE_SAS_TOKEN";

    @Override
    Emulator emulator() throws IOException {
        return Emulator.azure();
    }

    @Override
    String uri(String bucket, String path) {
        return "abfss://" + bucket + "@" + Emulator.ACCOUNT + ".dfs.core.windows.net/" + path;
    }

    /** A signature would cover the headers that the proxy changes. */
    @Override
    Map<String, String> environment(URI endpoint) {
        return Map.of("AZURE_ENDPOINT", endpoint + "/" + Emulator.ACCOUNT, SHARED_ACCESS, token(10));
    }

    private static String token(int minutes) {
        return Emulator.sharedAccess(OffsetDateTime.now(ZoneOffset.UTC).plusMinutes(minutes));
    }

    @Override
    boolean isCreate(Request request) {
        return request.method().equals("PUT") && !request.target().contains("comp=");
    }

    @Override
    boolean isRead(Request request) {
        return request.method().equals("GET") && !request.target().contains("comp=");
    }

    @Override
    boolean isPiece(Request request) {
        return request.target().contains("comp=block&");
    }

    @Override
    Fault pieceFault() {
        return new Fault.LostReply();
    }

    @Override
    boolean isCompletion(Request request) {
        return request.target().contains("comp=blocklist");
    }

    private void writeLarge(String name, int seed) throws IOException {
        byte[] content = new byte[CloudWriter.PIECE_BYTES + 1];
        content[0] = (byte) seed;
        try (ObjectWriter writer = store.write(name)) {
            writer.write(ByteBuffer.wrap(content));
            writer.commit();
        }
    }

    @Test
    void aLargeObjectWhoseReplyWasLostIsRecognized() throws IOException {
        proxy.next(1, this::isCompletion, new Fault.LostReply());
        writeLarge("a", 1);
        assertThat(direct.length("a")).isEqualTo(CloudWriter.PIECE_BYTES + 1);
    }

    @Test
    void aLargeObjectDoesNotReplaceAnother() throws IOException {
        direct.createIfAbsent("a", random(10));
        assertThatThrownBy(() -> writeLarge("a", 1)).hasMessageContaining("it already exists");
        assertThat(direct.readAll("a", 100)).isEqualTo(random(10));
    }

    @Test
    void oneOfSeveralWritersOfALargeObjectWins() throws Exception {
        ExecutorService writers = Executors.newFixedThreadPool(3);
        try {
            List<Future<Boolean>> results = writers.invokeAll(java.util.stream.IntStream.range(0, 3)
                    .mapToObj(i -> (java.util.concurrent.Callable<Boolean>) () -> {
                        try {
                            writeLarge("a", i);
                            return true;
                        } catch (IOException e) {
                            assertThat(e).hasMessageContaining("it already exists");
                            return false;
                        }
                    })
                    .toList());
            int winner = -1;
            int wins = 0;
            for (int i = 0; i < results.size(); i++) {
                if (results.get(i).get()) {
                    winner = i;
                    wins++;
                }
            }
            assertThat(wins).isOne();
            ByteBuffer first = ByteBuffer.allocate(1);
            direct.read("a", 0, first);
            assertThat(first.get(0)).isEqualTo((byte) winner);
        } finally {
            writers.shutdownNow();
        }
    }

    @Test
    void listsPageByPage() throws IOException {
        for (int i = 0; i < 5; i++) {
            direct.createIfAbsent("a/" + i, new byte[i]);
            direct.createIfAbsent("b" + i + "/x", new byte[1]);
        }
        URI location = URI.create(direct.toString());
        CloudSettings settings = CloudSettings.of(environment(emulator().endpoint()), Map.of());
        try (CloudObjectStore paged =
                settings.open(location, AzureBucket.open(AzureAddress.of(location, settings), settings, 2))) {
            assertThat(paged.list("a/", "a/1").toList())
                    .extracting(info -> info.name() + " " + info.length())
                    .containsExactly("a/2 2", "a/3 3", "a/4 4");
            Map<String, Object> found = new TreeMap<>();
            new CloudSourceTree(paged).list("", entry -> found.put(entry.name(), entry.kind()));
            assertThat(found).containsOnlyKeys("a", "b0", "b1", "b2", "b3", "b4");
        }
    }

    /** Accounts with a hierarchical namespace list directories as empty blobs; so do tools on others. */
    @Test
    void markersOfDirectoriesAreNoSamples() throws IOException {
        direct.createIfAbsent("a/1.txt", "one".getBytes(UTF_8));
        for (String marker : List.of("a", "a/empty")) {
            client().getBlobClient(
                            CloudLocation.of(URI.create(direct.toString())).key(marker))
                    .getBlockBlobClient()
                    .uploadWithResponse(
                            new BlockBlobSimpleUploadOptions(BinaryData.fromString(""))
                                    .setMetadata(Map.of("hdi_isfolder", "true")),
                            null,
                            null);
        }
        assertThat(direct.list("").toList()).extracting(info -> info.name()).containsExactly("a/1.txt");
        assertThatThrownBy(() -> direct.length("a/empty")).isInstanceOf(NoSuchObjectException.class);
        assertThatThrownBy(() -> direct.readAll("a/empty", 1)).isInstanceOf(NoSuchObjectException.class);
        CloudSourceTree tree = new CloudSourceTree(direct);
        Map<String, Object> found = new TreeMap<>();
        tree.list("", entry -> found.put(entry.name(), entry.kind()));
        tree.list("a", entry -> found.put("a/" + entry.name(), entry.kind()));
        tree.list("a/empty", entry -> found.put("a/empty/" + entry.name(), entry.kind()));
        assertThat(found).isEqualTo(Map.of("a", SourceTree.Kind.DIRECTORY, "a/1.txt", SourceTree.Kind.FILE));
        assertThat(tree.find("a/empty").orElseThrow().kind()).isEqualTo(SourceTree.Kind.DIRECTORY);
    }

    private BlobContainerClient client() throws IOException {
        return new BlobContainerClientBuilder()
                .endpoint(emulator().endpoint() + "/" + Emulator.ACCOUNT)
                .containerName(Emulator.BUCKET)
                .sasToken(token(5))
                .httpClient(new AzureHttp())
                .buildClient();
    }

    private void assertDenied(Map<String, String> changed, String... parts) throws IOException {
        Map<String, String> variables = new HashMap<>(emulator().environment());
        variables.putAll(changed);
        try (CloudObjectStore denied = Emulator.open(uri(Emulator.BUCKET, "x"), variables)) {
            for (org.assertj.core.api.ThrowableAssert.ThrowingCallable call :
                    List.<org.assertj.core.api.ThrowableAssert.ThrowingCallable>of(
                            () -> denied.createIfAbsent("a", new byte[1]),
                            () -> denied.list("").hasNext(),
                            () -> denied.readAll("a", 1))) {
                assertThatThrownBy(call)
                        .isInstanceOf(StoreAccessException.class)
                        .hasMessageContaining(uri(Emulator.BUCKET, "x"))
                        .hasMessageContainingAll(parts)
                        .hasMessageContaining("HTTP 403 (")
                        .hasMessageContaining("check the credentials (see docs/stores.md)");
            }
        }
    }

    @Test
    void anAccountKeyIsAcceptedAndAWrongOneRefused() throws IOException {
        try (CloudObjectStore keyed =
                Emulator.open(uri(Emulator.BUCKET, "keyed"), emulator().environment())) {
            assertThat(keyed.createIfAbsent("a ä%20+", random(10))).isTrue();
            assertThat(keyed.readAll("a ä%20+", 10)).isEqualTo(random(10));
            assertThat(keyed.delete("a ä%20+")).isTrue();
        }
        assertDenied(
                Map.of(KEY, "d3Jvbmc="), "Azure did not accept " + KEY + " as a key of the account devstoreaccount1");
        assertThatThrownBy(() -> Emulator.open(uri("x", "x"), Map.of(KEY, "not a key")))
                .hasMessageContaining(KEY + " is not a key of a storage account")
                .hasMessageNotContaining("not a key.");
    }

    @Test
    void anExpiredTokenIsNamedWithItsTime() throws IOException {
        assertDenied(
                Map.of(KEY, "", SHARED_ACCESS, token(-1)),
                "Azure did not accept " + SHARED_ACCESS + ", which is valid until 20");
    }

    @Test
    void anUnknownAccountIsNamed() throws IOException {
        try (CloudObjectStore absent =
                Emulator.open("abfss://photos@nosuchaccount.dfs.stoker.invalid/x", Map.of(KEY, "d3Jvbmc="))) {
            assertThatThrownBy(() -> absent.length("a"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("unknown host nosuchaccount.blob.stoker.invalid")
                    .hasMessageContaining("check the address in the location");
        }
    }
}
