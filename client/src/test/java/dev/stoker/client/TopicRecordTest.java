package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.kafka.RecordHeader;
import dev.stoker.schemas.kafka.RecordKind;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.Fingerprint;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TopicRecordTest {
    private final TopicTarget target = new TopicTarget("a:1", "photos", Map.of());
    private final RecordHeader header = new RecordHeader(
            RecordKind.BATCH, new Fingerprint("0123456789abcdef0123456789abcdef"), 1, 0, 5, 2, 0, 1, 0, 8, 1, 0);

    private TopicRecord read(RecordHeader written) {
        byte[] value = {1, 2, 3};
        return TopicRecord.of(
                target, new TopicLog.Entry(2, 17, written.headers(written.crc(Crc32cs.of(value), 3)), value));
    }

    @Test
    void topicsOfSamplesAreRefused() {
        assertThat(read(header).position()).isEqualTo(header.position());
        assertThatThrownBy(() -> read(header.with(ValueFormat.AVRO, 3)))
                .isInstanceOf(FeedException.class)
                .hasMessageContainingAll("partition 2, offset 17", "--value-format avro");
    }
}
