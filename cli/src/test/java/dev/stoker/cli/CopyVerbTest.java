package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.server.TestDataset;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Version 2 has the samples of version 1 in another chunk. */
class CopyVerbTest extends DatasetVerbs {

    @BeforeEach
    void create() throws IOException {
        assertThat(stoker("compact", path())).isZero();
    }

    private String target() {
        return directory.resolve("backup").toString();
    }

    @Test
    void copiesWhatIsNewAndRestores() throws IOException {
        assertThat(stoker("copy", path(), target(), "--dry-run")).isZero();
        assertThat(out.toString()).contains("would copy 2 versions and 3 chunks, ", "run without --dry-run to copy");
        assertThat(directory.resolve("backup")).doesNotExist();

        assertThat(stoker("copy", path() + "@1", target())).isZero();
        assertThat(out.toString()).contains("backup has version 1: copied 1 version and 2 chunks, ");
        assertThat(stoker("tag", path(), "best", "1")).isZero();
        assertThat(stoker("copy", path(), target(), "--json")).isZero();
        assertThat(json().path("before").asLong()).isEqualTo(1);
        assertThat(json().path("version").asLong()).isEqualTo(2);
        assertThat(json().path("chunks").asLong()).isEqualTo(1);
        assertThat(json().path("present").asLong()).isEqualTo(2);
        assertThat(json().path("other_files").asLong()).isEqualTo(1);
        assertThat(stoker("copy", path(), target())).isZero();
        assertThat(out.toString()).contains("backup has version 2 already: nothing was copied");
        assertThat(stoker("copy", path(), target(), "--dry-run")).isZero();
        assertThat(out.toString()).contains("backup has version 2 already: nothing to copy");

        assertThat(stoker("verify", target())).isZero();
        assertThat(stoker("verify", target() + "@best")).isZero();
        String restored = directory.resolve("restored").toString();
        assertThat(stoker("copy", target(), restored)).isZero();
        assertThat(Contents.of(restored)).isEqualTo(Contents.of(path())).hasSize(9);
    }

    @Test
    void aTargetWithOtherContentsIsRefused() throws IOException {
        Path photos = Files.createDirectories(directory.resolve("raw"));
        Path file = Files.writeString(photos.resolve("1.jpg"), "x");
        for (String verb : List.of("copy", "mirror")) {
            assertThat(stoker(verb, path(), photos.toString())).isEqualTo(2);
            assertThat(err.toString()).contains("is not a dataset and contains 1.jpg");
            assertThat(stoker(verb, path(), path() + "/inner")).isEqualTo(2);
            assertThat(err.toString()).contains("is inside the dataset " + path());
            for (Path below : List.of(file, file.resolve("more"))) {
                assertThat(stoker(verb, path(), below.toString())).isEqualTo(2);
                assertThat(err.toString()).contains(file + " is a file; give a directory");
            }
        }
        assertThat(photos).isDirectoryContaining(file::equals).satisfies(only -> {
            try (var files = Files.list(only)) {
                assertThat(files).hasSize(1);
            }
        });
    }

    @Test
    void damagedChunksAreNamedAndTheVersionIsHidden() throws IOException {
        Files.delete(dataset.file(1));
        assertThat(stoker("copy", path(), target())).isEqualTo(1);
        assertThat(out.toString()).contains("chunk 1: " + dataset.file(1) + " is missing");
        assertThat(err.toString())
                .contains("1 chunk of " + path() + " is damaged, so versions after 0 were not copied; restore them");
        assertThat(stoker("info", target())).isEqualTo(1);
        assertThat(err.toString()).contains("has no version yet");
    }

    @Test
    void aTargetWithAnotherLogIsRefused() throws IOException {
        assertThat(stoker("copy", path(), target())).isZero();
        String key = Contents.of(path()).keySet().iterator().next();
        assertThat(stoker("delete", target(), key, "--yes")).isZero();
        assertThat(stoker("copy", path(), target())).isEqualTo(1);
        assertThat(err.toString()).contains("has version 3, but version 2 is the newest of " + path());
        assertThat(stoker("delete", path(), key, "--yes")).isZero();
        for (String verb : List.of("copy", "mirror")) {
            assertThat(stoker(verb, path(), target())).isEqualTo(1);
            assertThat(err.toString()).contains("Version 3 of " + target() + " differs from the one of " + path());
        }
        TestDataset other = TestDataset.create(directory.resolve("other"), 4, 100, 5);
        assertThat(stoker("copy", other.path().toString(), target())).isEqualTo(1);
        assertThat(err.toString()).contains(target() + " is another dataset than " + other.path());
    }

    @Test
    void mistakesAreToldBeforeAnythingIsWritten() {
        assertThat(stoker("copy", path(), path())).isEqualTo(2);
        assertThat(err.toString()).contains("source and target are both " + path());
        assertThat(stoker("copy", path(), target() + "@2")).isEqualTo(2);
        assertThat(err.toString()).contains("leave out @2");
        assertThat(stoker("mirror", path() + "@1", target())).isEqualTo(2);
        assertThat(err.toString()).contains("leave out @1");
        assertThat(stoker("mirror", path(), target(), "--interval", "0")).isEqualTo(2);
        assertThat(err.toString()).contains("option --interval: 0 must be positive");
        assertThat(stoker("copy", path(), target(), "--threads", "0")).isEqualTo(2);
        assertThat(stoker("copy", path() + "@9", target())).isEqualTo(1);
        assertThat(err.toString()).contains("has no version 9");
        assertThat(stoker("copy", directory.resolve("none").toString(), target()))
                .isEqualTo(1);
        assertThat(directory.resolve("backup")).doesNotExist();
    }

    @Test
    void aMirrorFollowsTagsAndExpiries() throws IOException {
        assertThat(stoker("mirror", path(), target(), "--dry-run")).isZero();
        assertThat(out.toString())
                .contains("would copy 2 versions and 3 chunks")
                .doesNotContain("delete");
        assertThat(stoker("mirror", path(), target())).isZero();
        assertThat(stoker("tag", target(), "mine", "1")).isZero();
        assertThat(stoker("expire", path(), "--keep-last", "1", "--yes")).isZero();
        assertThat(stoker("mirror", path(), target(), "--older-than", "0", "--json"))
                .isZero();
        assertThat(json().path("versions").asLong()).isEqualTo(1);
        assertThat(json().path("deleted").asLong()).isEqualTo(2);
        assertThat(stoker("tag", target())).isZero();
        assertThat(out.toString()).doesNotContain("mine");
        assertThat(stoker("info", target() + "@1")).isEqualTo(1);
        assertThat(stoker("verify", target())).isZero();
        assertThat(stoker("gc", target(), "--older-than", "0")).isZero();
        assertThat(out.toString()).contains("nothing to delete: every file belongs to a version");
    }

    @Test
    void aMirrorTakesOverACopyAndDeletesWhatTheCopyKept() throws IOException {
        assertThat(stoker("copy", path(), target())).isZero();
        assertThat(stoker("expire", path(), "--keep-last", "1", "--yes")).isZero();
        assertThat(stoker("copy", path(), target())).isZero();
        assertThat(stoker("mirror", path(), target(), "--older-than", "0", "--dry-run"))
                .isZero();
        assertThat(out.toString()).contains("already: nothing to copy", "would delete 2 files, ", " at the target");
        assertThat(stoker("mirror", path(), target(), "--older-than", "0")).isZero();
        assertThat(out.toString()).contains("already: nothing was copied", "deleted 2 files, ");
        assertThat(stoker("verify", target())).isZero();
    }

    @Test
    void aMirrorOfALostSourceDeletesNothing() throws IOException {
        assertThat(stoker("mirror", path(), target())).isZero();
        assertThat(stoker("expire", path(), "--keep-last", "1", "--yes")).isZero();
        Path log = dataset.path().resolve("_stoker/log");
        Files.move(log, directory.resolve("moved"));
        assertThat(stoker("mirror", path(), target(), "--older-than", "0")).isEqualTo(1);
        assertThat(err.toString()).contains("has lost its newest version 1", "stoker recover");
        Files.move(dataset.path().resolve("_stoker/versions"), directory.resolve("signs"));
        assertThat(stoker("mirror", path(), target(), "--older-than", "0")).isEqualTo(1);
        assertThat(err.toString()).contains("has version 2, but there is no version in " + path());
        Files.delete(dataset.path().resolve("_stoker/dataset.json"));
        assertThat(stoker("mirror", path(), target(), "--older-than", "0")).isEqualTo(1);
        assertThat(stoker("verify", target() + "@1")).isZero();
    }

    @Test
    void gcShowsACopyAndEndsADeadOne() throws IOException {
        assertThat(stoker("expire", path(), "--keep-last", "1", "--yes")).isZero();
        String id;
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            id = new ProcessLeases(Dataset.open(store), ProcessLeases.Kind.COPY)
                    .take(InstantSource.system(), "ada@host");
        }
        assertThat(stoker("gc", path(), "--older-than", "0", "--yes")).isZero();
        assertThat(out.toString())
                .contains("chunks are kept: " + id + " of ada@host is running", "kept: a copy is running")
                .contains("deleted 0 files");
        assertThat(stoker("gc", path(), "--json")).isZero();
        assertThat(json().path("copies").path(0).path("id").asText()).isEqualTo(id);
        assertThat(stoker("gc", path(), "--break", id)).isZero();
        assertThat(out.toString()).contains("would end " + id);
        assertThat(stoker("gc", path(), "--break", id, "--yes")).isZero();
        assertThat(stoker("gc", path(), "--break", id, "--yes")).isEqualTo(1);
        assertThat(stoker("gc", path(), "--older-than", "0", "--yes")).isZero();
        assertThat(out.toString()).contains("deleted 2 files");
    }
}
