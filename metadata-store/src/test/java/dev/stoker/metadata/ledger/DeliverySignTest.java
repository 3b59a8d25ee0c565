package dev.stoker.metadata.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeliverySignTest {
    private static final UUID FEED = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000001");
    private static final UUID OTHER = UUID.fromString("6f1d2c3b-4a59-5687-8000-000000000002");

    @TempDir
    Path directory;

    @Test
    void liesBesideALedgerThatIsInTheDatasetAndWithinAnyOther() throws IOException {
        Path feed = Files.createDirectories(directory.resolve("_stoker/feeds/" + FEED));
        DeliverySign.leave(feed.resolve("ledger").toString(), FEED, 3, "part-a.avro");
        assertThat(feed.resolve("delivered-" + FEED + "-3-a.json"))
                .hasContent("{\"feed\":\"" + FEED + "\",\"epoch\":3,\"file\":\"part-a.avro\"}");
        assertThat(DeliverySign.place("s3a://bucket/photos/_stoker/feeds/" + FEED + "/ledger"))
                .isEqualTo("s3a://bucket/photos/_stoker/feeds/" + FEED);
        assertThat(DeliverySign.place("/ledgers/mine")).isEqualTo("/ledgers/mine");
    }

    @Test
    void thoseOfAllEpochsAreFound() throws IOException {
        String ledger = directory.resolve("ledger").toString();
        assertThat(DeliverySign.find(ledger, Optional.empty()))
                .as("no directory")
                .isEmpty();
        Files.createDirectories(directory.resolve("ledger"));
        DeliverySign.leave(ledger, FEED, 10, "part-b.avro");
        DeliverySign.leave(ledger, FEED, 2, "part-a.avro");
        DeliverySign.leave(ledger, FEED, 2, "part-a.avro");
        DeliverySign.leave(ledger, OTHER, 0, "part-c.avro");
        List<DeliverySign> own = DeliverySign.find(ledger, Optional.of(FEED));
        assertThat(own).extracting(DeliverySign::epoch).containsExactly(2L, 10L);
        assertThat(own).extracting(DeliverySign::file).containsExactly("part-a.avro", "part-b.avro");
        assertThat(own).extracting(DeliverySign::feed).containsOnly(FEED);
        assertThat(own.get(0).where()).contains("delivered-" + FEED);
        assertThat(DeliverySign.find(ledger, Optional.empty())).hasSize(3);
    }

    @Test
    void aDamagedOneCountsAllTheSame() throws IOException {
        DeliverySign.leave(directory.toString(), FEED, 0, "part-a.avro");
        Files.writeString(directory.resolve("delivered-" + FEED + "-0-a.json"), "");
        assertThat(DeliverySign.find(directory.toString(), Optional.of(FEED)))
                .singleElement()
                .extracting(DeliverySign::file)
                .isEqualTo("part-a.avro");
    }
}
