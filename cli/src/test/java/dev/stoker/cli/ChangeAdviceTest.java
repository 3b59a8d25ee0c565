package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Contents;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.testing.Advice;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Follows the advice of verbs that change a dataset. */
class ChangeAdviceTest extends AdvisedVerbs {

    @Test
    void aPlanSaysHowToChangeTheDataset() throws IOException {
        Path table = Files.writeString(directory.resolve("t.csv"), "key,score\n" + key(0, 0) + ",0.5\n");
        said(0, "compact", path());
        List<List<String>> plans = List.of(
                List.of("expire", path(), "--keep-last", "1"),
                List.of("update", path(), table.toString()),
                List.of("delete", path(), key(0, 1)),
                List.of("delete", path(), key(0, 2), "--erase"));
        for (List<String> plan : plans) {
            String[] args = plan.toArray(String[]::new);
            String[] dry = with(args, "--dry-run");
            assertThat(said(0, args)).contains("run with --yes to ");
            assertThat(said(0, dry)).contains("run with --yes and without --dry-run to ");
            assertThat(said(0, with(dry, "--yes"))).contains("run without --dry-run to ");
            long before = version();
            said(0, with(args, "--yes"));
            assertThat(version()).isGreaterThan(before);
        }
    }

    private static String[] with(String[] args, String more) {
        String[] all = Arrays.copyOf(args, args.length + 1);
        all[args.length] = more;
        return all;
    }

    private long version() throws IOException {
        assertThat(stoker("info", path(), "--json")).isZero();
        return json().path("version").asLong();
    }

    @Test
    void aSelectionOfSamples() throws IOException {
        Path keys = Files.writeString(directory.resolve("keys.txt"), key(0, 0));
        for (String erase : List.of("--dry-run", "--erase")) {
            String[] none = {"delete", path(), erase};
            assertThat(said(2, none)).contains("no sample is selected; give keys,");
            said(0, with(none, key(0, 0)));
            assertHelps(2, List.of("--keys-from", keys.toString()), none);
            assertHelps(2, List.of("--prefix", key(0, 0)), none);
            assertHelps(2, List.of("--where", "key IS NOT NULL"), none);
            assertHelps(2, List.of("--split", "train"), none);
        }
        assertThat(said(2, "delete", path(), "--prefix", "")).contains("give --split");
        assertHelps(2, List.of("--keys-from", keys.toString()), "delete", path(), "--null");
        assertHelps(2, "--erase", "delete", path(), key(0, 0), "--certificate", "proof.json");
        assertThat(Contents.of(path())).hasSize(9);
    }

    @Test
    void versionsToExpire() {
        assertHelps(2, List.of("--keep", "1d"), "expire", path());
        assertHelps(2, List.of("--keep-last", "1"), "expire", path());
        said(0, "compact", path());
        String said = said(0, "expire", path(), "--keep-last", "1", "--yes");
        assertThat(said).contains("stoker gc deletes their chunks");
        assertThat(said(0, "gc", path(), "--older-than", "0 s")).contains("expired versions");
        String[] feed = {"expire", path(), "--end-feed", "00000000-0000-0000-0000-000000000001", "--keep-last", "1"};
        assertThat(said(2, feed)).contains("--end-feed takes neither --keep nor --keep-last");
        assertThat(said(1, "expire", path(), "--end-feed", feed[3])).contains("uses no version");
    }

    @Test
    void filesThatAreTooYoung() throws IOException {
        Path orphan = dataset.path().resolve("chunks/7f/018f0000-0000-7000-8000-00000000007f.arrow");
        Files.createDirectories(orphan.getParent());
        Files.write(orphan, new byte[10]);
        String[] gc = {"gc", path()};
        assertThat(said(0, gc)).contains("run with --older-than 0s;");
        assertThat(said(0, with(gc, "--older-than=0s"))).contains("run with --yes to delete");
        assertThat(said(0, "gc", path(), "--older-than", "0s", "--yes")).contains("deleted 1 file");
    }

    @Test
    void leasesOfDeadWriters() throws IOException {
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            new Leases(Dataset.open(store)).take("slow", Clock.systemUTC(), "ada@host", "");
        }
        assertThat(said(0, "gc", path())).contains("run with --break ID");
        String other = said(1, "gc", path(), "--break", "fast");
        assertThat(follow(other, "stoker gc")).contains("slow");
        assertThat(assertHelps(0, "--yes", "gc", path(), "--break", "slow")).contains("ended ingest slow");
    }

    @Test
    void smallChunks() {
        said(0, "compact", path());
        assertThat(said(0, "compact", path())).contains("are below --below");
        assertThat(said(0, "compact", path(), "--below", "8 MiB")).contains("nothing to compact");
        assertThat(said(0, "delete", path(), key(0, 0), "--yes")).contains("version 3");
        assertThat(said(0, "log", path())).contains(" compact ");
    }

    @Test
    void copiesAndRepairs() throws IOException {
        String target = directory.resolve("my copy").toString();
        assertLeftOutHelps(0, "run without --dry-run to copy", "--dry-run", "copy", path(), target, "--dry-run");
        Path chunk = dataset.file(1);
        byte[] bytes = Files.readAllBytes(chunk);
        Files.write(chunk, Arrays.copyOf(bytes, bytes.length - 1));
        String damaged = said(1, "copy", path(), directory.resolve("other").toString());
        List<String> verify = Advice.command(damaged, "see stoker verify");
        assertThat(said(1, verify.toArray(String[]::new)))
                .contains(chunk.getFileName().toString());
        Files.write(chunk, bytes);
        Path entry = dataset.path().resolve(String.format("_stoker/log/%020d.avro", dataset.version()));
        Files.delete(entry);
        follow(assertHelps(0, "--yes", "recover", path()), "stoker verify");
        Files.move(dataset.path().resolve("_stoker"), directory.resolve("away"));
        String[] dry = {"rebuild", path(), "--dry-run"};
        assertThat(said(0, dry)).contains("run without --dry-run");
        follow(said(0, "rebuild", path()), "stoker verify");
    }

    @Test
    void tags() {
        List<String> words = new ArrayList<>(Advice.command(said(0, "tag", path()), "stoker tag"));
        assertThat(words.subList(2, 4)).containsExactly("NAME", "[VERSION]");
        said(0, words.get(0), words.get(1), "best", "1");
        assertThat(follow(said(1, "tag", path(), "nosuch", "--delete"), "stoker tag"))
                .contains("best");
        assertThat(said(2, "tag", path(), "--delete")).contains("--delete needs the name of a tag");
        assertThat(said(2, "tag", path(), "--move")).contains("--move needs the name of a tag");
        String[] both = {"tag", path(), "best", "--delete", "--move"};
        assertLeftOutHelps(2, "--delete takes neither --move nor a version", "--delete", both);
        assertLeftOutHelps(2, "--delete takes neither --move nor a version", "--move", both);
    }

    @Test
    void anIndexWithDifferences() throws IOException {
        assertThat(said(0, "index", path(), "--check")).contains("not in the index");
        follow(out.toString(), "stoker index");
        Path run;
        try (var files = Files.list(dataset.path().resolve("_stoker/index"))) {
            run = files.findFirst().orElseThrow();
        }
        byte[] bytes = Files.readAllBytes(run);
        bytes[bytes.length / 2] ^= 4;
        Files.write(run, bytes);
        String damaged = said(1, "index", path(), "--check");
        assertThat(damaged).contains(" --rebuild");
        follow(damaged, "difference; build the index again with: stoker index");
        assertThat(said(0, "index", path(), "--check")).contains("no difference");
    }

    @Test
    void tiersOfFeeders() throws IOException {
        Path proof = directory.resolve("proof.json");
        said(0, "delete", path(), key(0, 1), "--erase", "--yes", "--certificate", proof.toString());
        Path tier = Files.createDirectories(directory.resolve("tier"));
        String[] purge = {"cache", "purge", tier.toString()};
        assertHelps(2, List.of("--erased", proof.toString()), purge);
    }

    @Test
    void whatAClusterDoes() throws IOException {
        Path ledger = Files.createDirectories(
                dataset.path().resolve("_stoker/feeds/6f1d2c3b-4a59-5687-8000-000000000001/ledger"));
        assertThat(said(2, "audit", "--ledger", ledger.toString(), "--parallelism", "2"))
                .contains("--parallelism needs --flink")
                .doesNotContain("--threads");
        assertThat(said(2, "verify", path(), "--parallelism", "2")).contains("threads are set with --threads");
        said(0, "verify", path(), "--threads", "2");
        assertThat(said(2, "verify", path(), "--flink", "127.0.0.1:1", "--threads", "2"))
                .contains("use --parallelism");
        assertThat(said(1, "verify", path(), "--flink", "127.0.0.1:1", "--parallelism", "2"))
                .doesNotContain("--parallelism");
    }
}
