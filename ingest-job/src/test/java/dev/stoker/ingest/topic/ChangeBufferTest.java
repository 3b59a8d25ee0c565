package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.kafka.SourceRecord;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChangeBufferTest {
    private final ChangeBuffer changes = new ChangeBuffer(100);

    private static SourceRecord record(long offset, int bytes) {
        ByteBuffer fetch = ByteBuffer.allocate(1000);
        return new SourceRecord(0, offset, 0, null, fetch.slice(10, bytes), List.of());
    }

    @Test
    void holdsACopyOfTheNewestRecordOfAKey() {
        changes.hold("a", record(1, 40));
        changes.hold("b", record(2, 40));
        changes.hold("a", record(3, 50));
        assertThat(changes.isFull()).isFalse();
        changes.hold("b", new SourceRecord(0, 4, 0, null, null, List.of()));
        changes.hold("c", record(5, 50));
        assertThat(changes.isFull()).isTrue();

        Map<String, SourceRecord> taken = changes.take();
        assertThat(taken.values()).extracting(SourceRecord::offset).containsExactly(3L, 4L, 5L);
        assertThat(taken.get("a").value().array()).as("not the fetch").hasSize(50);
        assertThat(taken.get("b").value()).isNull();
        assertThat(changes.isFull()).isFalse();
        assertThat(changes.take()).isEmpty();
    }

    @Test
    void aVersionEndsBeforeAKeyThatItHasPackedChanges() {
        changes.removes("gone");
        changes.packed("a");
        assertThat(changes.endsBefore("a")).isTrue();
        assertThat(changes.endsBefore("b")).isFalse();
        assertThat(changes.endsBefore("gone"))
                .as("a deleted key can come again")
                .isFalse();
        assertThat(changes.end()).containsExactly("gone");
        assertThat(changes.endsBefore("a")).isFalse();
        assertThat(changes.end()).isEmpty();
    }
}
