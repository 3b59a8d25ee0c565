package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.InstantSource;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Version 2 has the samples of version 1 in another chunk. */
class ExpireVerbTest extends DatasetVerbs {

    @BeforeEach
    void create() throws IOException {
        assertThat(stoker("compact", path())).isZero();
    }

    @Test
    void expiresWithYesAndCollects() throws IOException {
        assertThat(stoker("expire", path(), "--keep-last", "1")).isZero();
        assertThat(out.toString()).contains("would expire 1 version: 1; run with --yes to expire");
        assertThat(stoker("info", path() + "@1")).isZero();

        assertThat(stoker("expire", path(), "--keep-last", "1", "--yes")).isZero();
        assertThat(out.toString()).contains("version 3: expired 1 version: 1; stoker gc deletes their chunks");
        assertThat(stoker("info", path() + "@1")).isEqualTo(1);
        assertThat(err.toString()).contains("was expired by version 3; the oldest version that was kept is 2");
        assertThat(stoker("log", path())).isZero();
        assertThat(out.toString()).contains(" expire ", " compact ", " ingest ");

        assertThat(stoker("gc", path())).isZero();
        assertThat(out.toString()).contains("nothing to delete");
        assertThat(stoker("gc", path(), "--older-than", "0", "--json")).isZero();
        assertThat(json().path("expired_chunks")).hasSize(2);
        assertThat(stoker("gc", path(), "--older-than", "0", "--yes")).isZero();
        assertThat(out.toString()).contains("expired versions", "deleted 2 files");
        assertThat(dataset.file(0)).doesNotExist();
        assertThat(stoker("verify", path())).isZero();
        assertThat(stoker("recover", path())).isZero();
        assertThat(out.toString()).contains("nothing to recover");
        assertThat(stoker("show", path(), "--n", "9")).isZero();
    }

    @Test
    void keepsTaggedAndUsedVersions() throws IOException {
        assertThat(stoker("tag", path(), "paper", "1")).isZero();
        assertThat(stoker("expire", path(), "--keep", "0", "--yes", "--json")).isZero();
        assertThat(json().path("expired")).isEmpty();
        assertThat(json().at("/kept/0/reason").asText()).isEqualTo("tag paper");
        assertThat(stoker("tag", path(), "paper", "--delete")).isZero();

        UUID feed = new UUID(1, 2);
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            new VersionUses(Dataset.open(store)).take(1, feed, InstantSource.system(), "ada@host");
        }
        assertThat(stoker("expire", path(), "--keep-last", "1")).isZero();
        assertThat(out.toString()).contains("kept: version 1: feed " + feed + " of ada@host", "no version to expire");
        assertThat(stoker("expire", path(), "--end-feed", feed.toString())).isZero();
        assertThat(out.toString()).contains("would end the uses of feed " + feed);
        assertThat(stoker("expire", path(), "--end-feed", feed.toString(), "--yes"))
                .isZero();
        assertThat(stoker("expire", path(), "--end-feed", feed.toString(), "--yes"))
                .isEqualTo(1);
        assertThat(stoker("expire", path(), "--keep-last", "1", "--yes", "--json"))
                .isZero();
        assertThat(json().path("version").asInt()).isEqualTo(3);
        assertThat(json().at("/expired/0/last").asInt()).isEqualTo(1);
    }

    @Test
    void aRuleIsNeeded() {
        assertThat(stoker("expire", path(), "--yes")).isEqualTo(2);
        assertThat(err.toString()).contains("give --keep TIME, --keep-last N, or both");
        assertThat(stoker("expire", path(), "--keep-last", "0")).isEqualTo(2);
        assertThat(stoker("expire", path(), "--keep", "5x")).isEqualTo(2);
        assertThat(stoker("expire", path(), "--end-feed", "photos")).isEqualTo(2);
    }
}
