package dev.stoker.feeder.source.reader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.ReceiptsItem;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class UnencodableItemsTest {

    @Test
    void writesALineAMinute() {
        AtomicLong nanos = new AtomicLong(-5);
        UnencodableItems refused = new UnencodableItems(nanos::get);
        ReceiptsItem item = new ReceiptsItem(0, new Identity("s", "g", 1, 0, 1, 0, 1, 0), "f", 0, -1, 0, new byte[32]);
        IllegalArgumentException why = new IllegalArgumentException("no");
        assertThat(refused.log(item, why)).isTrue();
        assertThat(refused.log(item, why)).isFalse();
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        assertThat(refused.log(item, why)).isTrue();
        assertThat(refused.log(item, why)).isFalse();
    }
}
