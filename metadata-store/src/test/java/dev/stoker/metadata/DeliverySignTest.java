package dev.stoker.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
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
        DeliverySign.leave(feed.resolve("ledger").toString(), FEED, "part-a.avro");
        assertThat(feed.resolve("delivered-" + FEED + ".json"))
                .hasContent("{\"feed\":\"" + FEED + "\",\"file\":\"part-a.avro\"}");
        assertThat(DeliverySign.place("s3a://bucket/photos/_stoker/feeds/" + FEED + "/ledger"))
                .isEqualTo("s3a://bucket/photos/_stoker/feeds/" + FEED);
        assertThat(DeliverySign.place("/ledgers/mine")).isEqualTo("/ledgers/mine");
    }

    @Test
    void theFirstStaysAndIsFound() throws IOException {
        String ledger = directory.resolve("ledger").toString();
        assertThat(DeliverySign.find(ledger, Optional.empty()))
                .as("no directory")
                .isEmpty();
        Files.createDirectories(directory.resolve("ledger"));
        DeliverySign.leave(ledger, FEED, "part-a.avro");
        DeliverySign.leave(ledger, FEED, "part-b.avro");
        DeliverySign.leave(ledger, OTHER, "part-c.avro");
        assertThat(DeliverySign.find(ledger, Optional.of(FEED))).singleElement().satisfies(sign -> {
            assertThat(sign.feed()).isEqualTo(FEED);
            assertThat(sign.file()).isEqualTo("part-a.avro");
            assertThat(sign.where()).contains("delivered-" + FEED);
        });
        assertThat(DeliverySign.find(ledger, Optional.empty())).hasSize(2);
    }

    @Test
    void aDamagedOneIsNoLicence() throws IOException {
        for (String content : List.of("", "{}", "{\"feed\":\"x\",\"file\":\"part-a.avro\"}\n")) {
            Files.writeString(directory.resolve("delivered-" + FEED + ".json"), content);
            assertThatThrownBy(() -> DeliverySign.find(directory.toString(), Optional.of(FEED)))
                    .isInstanceOf(CorruptDataException.class)
                    .hasMessageContaining("delivered-" + FEED);
        }
    }
}
