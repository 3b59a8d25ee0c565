package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.ingest.Packed;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.LeaseHeldException;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A first ingest of a topic that failed binds nothing: the next one can have other fields. */
@Timeout(240)
class FailedFirstTopicIngestITCase {

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("unbound-");

    @TempDir
    private Path directory;

    private Topic topic;
    private Path data;

    @BeforeEach
    void write(TestInfo test) throws Exception {
        String name = "unbound-" + test.getTestMethod().orElseThrow().getName();
        topic = Topic.create(name, 1);
        topic.send(List.of(topic.record(0, null, "{\"n\":1,\"s\":\"a\"}"), topic.record(0, null, "{\"n\":300}")));
        data = directory.resolve("data");
    }

    private void fail() {
        assertThatThrownBy(() -> Streams.ingest(topic, data, "--value=json", "--schema=n:int8", "--max-dead-letters=0"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("--max-dead-letters");
    }

    private List<String> fields() throws Exception {
        try (ObjectStore store = new LocalObjectStore(data)) {
            return Dataset.open(store).info().fields().stream()
                    .map(Field::toString)
                    .toList();
        }
    }

    @Test
    void theNextIngestHasItsOwnFields() throws Exception {
        fail();
        assertThat(Packed.latestVersion(data)).isZero();
        assertThat(Packed.leases(data)).isEmpty();

        assertThat(Streams.ingest(topic, data, "--value=json").samples()).isEqualTo(2);

        assertThat(Packed.read(data).samples().get(1).fields()).containsEntry("n", 300L);
        assertThat(Packed.info(data).fields().stream().map(Field::name)).containsExactly("n", "s");
        assertThat(data.resolve("_stoker/dataset-copy.json"))
                .hasSameBinaryContentAs(data.resolve("_stoker/dataset.json"));
        assertThat(Packed.leases(data)).isEmpty();
    }

    @Tag("full-feeds")
    @Test
    void theSameOptionsKeepTheDescription() throws Exception {
        fail();
        String before = Files.readString(data.resolve("_stoker/dataset.json"));

        Streams.ingest(topic, data, "--value=json", "--schema=n:int8");

        assertThat(Files.readString(data.resolve("_stoker/dataset.json"))).isEqualTo(before);
    }

    @Tag("full-feeds")
    @Test
    void aVersionAndALiveWriterBind() throws Exception {
        fail();
        List<String> before = fields();
        try (ObjectStore store = new LocalObjectStore(data)) {
            Leases leases = new Leases(Dataset.open(store));
            String other = UUID.randomUUID().toString();
            leases.take(other, Clock.systemUTC(), "someone", "");
            assertThatThrownBy(() -> Streams.ingest(topic, data, "--value=json"))
                    .isInstanceOf(LeaseHeldException.class);
            leases.release(other);
        }
        assertThat(fields()).isEqualTo(before);
        Streams.ingest(topic, data, "--value=json", "--schema=n:int8");
        assertThatThrownBy(() -> Streams.ingest(topic, data, "--value=json", "--schema=n:int64"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("the dataset's field n has the type int8");
        assertThat(Packed.read(data).samples()).hasSize(1);
    }
}
