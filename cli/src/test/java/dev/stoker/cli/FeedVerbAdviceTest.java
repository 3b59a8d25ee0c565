package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.output.Errors;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.mount.fuse.MountRecords;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Follows the advice of verbs that know feeds. */
@Timeout(60)
class FeedVerbAdviceTest extends AdvisedVerbs {

    private static final String ORDER = OrderSpec.defaults().toJson();

    private final String name = "advice-" + System.nanoTime();

    @AfterEach
    void remove() throws IOException {
        for (int i = 0; i < 10; i++) {
            Files.deleteIfExists(StokerHome.feedFile(name + i));
        }
    }

    /** Writes the files of feeds that have ended. */
    private void ended(int count, String streams) throws IOException {
        Files.createDirectories(StokerHome.feeds());
        for (int i = 0; i < count; i++) {
            Files.writeString(
                    StokerHome.feedFile(name + i),
                    "{\"name\":\"" + name + i + "\",\"id\":\"" + UUID.randomUUID()
                            + "\",\"started_ms\":1,\"ended_ms\":2,\"addresses\":[],\"ledger\":\""
                            + directory.resolve("ledger") + "\",\"streams\":[" + streams + "],\"order\":" + ORDER
                            + "}");
        }
    }

    private String stream(String stream, String split) {
        return "{\"name\":\"" + stream + "\",\"path\":\"" + path() + "\",\"version\":1,\"split\":\"" + split + "\"}";
    }

    @Test
    void namesOfFeeds() throws IOException {
        ended(10, stream("train", "train"));
        assertThat(follow(said(2, "audit"), "stoker ps")).contains(name + 0, name + 9);
        String unknown = said(1, "stop", "nosuch");
        assertThat(unknown).contains("more (stoker ps --all)");
        assertThat(follow(unknown, "stoker ps")).contains(name + 0, name + 9);
        assertThat(said(0, "top", "--once")).contains("no feed is running; start one with stoker feed");
        assertThat(said(0, "ps")).doesNotContain(name);
        assertThat(out.toString()).contains("stoker ps --all shows those that have ended");
        assertThat(said(0, "ps", "--all")).contains(name + 0);
        assertThat(follow(said(1, "wait", name, "--timeout", "0s"), "stoker ps"))
                .doesNotContain(name);
    }

    @Test
    void theLedgerOfAFeed() throws IOException {
        Path ledger = Files.createDirectories(directory.resolve("my ledger"));
        assertThat(said(2, "audit")).contains("or its ledger with --ledger DIR");
        assertThat(said(2, "audit", name, "--ledger", ledger.toString())).contains("or --ledger, not both");
        assertHelps(2, List.of("--dataset", path()), "audit", "--ledger", ledger.toString());
        String denied = Errors.message(new AccessDeniedException(path() + "/_stoker/feeds/" + name));
        assertThat(denied).endsWith("give another directory with --ledger");
        assertThat(FeedPlan.of(FeedOptions.parse(path(), "--ledger", ledger.toString()))
                        .ledger())
                .contains("my ledger");
    }

    @Test
    void optionsOfFeeds() throws IOException {
        // Reports of measurements and the plan of a feed recommend them.
        FeedPlan plan = FeedPlan.of(FeedOptions.parse(
                path(),
                "--tier",
                "disk:" + directory.resolve("tier") + ":1g",
                "--warm",
                "--epochs",
                "2",
                "--groups",
                "train/probe"));
        assertThat(plan.groups()).hasSize(1);
    }

    @Test
    void samplesOfAFeed() throws IOException {
        FeedSpec spec = new FeedSpec(
                UUID.randomUUID(),
                "photos",
                List.of(dataset.stream("train")),
                ORDER,
                List.of(),
                OptionalLong.empty(),
                OnCorrupt.FAIL);
        ServerOptions options =
                ServerOptions.defaults().withPorts(PortRange.ANY).withLinger(Duration.ZERO);
        try (NodeLease node = FeedNode.acquire(spec, options)) {
            String address = node.address();
            assertThat(said(2, "ls")).contains("or a feed with --feed");
            assertThat(said(0, "ls", "--feed", address)).contains(key(0, 0).split("/")[0]);
            assertThat(said(2, "ls", path(), "c0", "--feed", address)).contains("give either a dataset or --feed");
            said(0, "ls", "--feed", address, "c0");
            assertLeftOutHelps(
                    2,
                    "--as-of cannot be combined with --feed; give the number of a version",
                    "--as-of=0s",
                    "stat",
                    "--feed=" + address,
                    key(0, 0),
                    "--as-of=0s");
            assertThat(said(2, "stat", "--feed", address, key(0, 0), "--version", "best"))
                    .contains("--version best is a tag, which cannot be combined with --feed; give a number");
            said(0, "stat", "--feed", address, key(0, 0), "--version", "1");
            assertHelps(2, List.of("--feed", address), "stat", key(0, 0), key(0, 1), "--stream", "train");
            assertLeftOutHelps(
                    2,
                    "--redis and --feed exclude each other",
                    "--redis=redis://127.0.0.1:1",
                    "stat",
                    "--feed=" + address,
                    key(0, 0),
                    "--redis=redis://127.0.0.1:1");
        }
    }

    @Test
    void theOrderOfAFeed() throws IOException {
        ended(1, stream("train", "val") + "," + stream("other", "train"));
        String feed = name + 0;
        Path state = directory.resolve("state.json");
        writeState(state, ORDER);
        assertThat(said(2, "why", "--step=0")).contains("give --feed NAME");
        String[] why = {"why", "--feed=" + feed, "--state", state.toString(), "--step=0"};
        assertHelps(1, List.of("--stream", "other"), why);
        writeState(state, ORDER.replace("\"seed\":0", "\"seed\":7"));
        List<String> words = new ArrayList<>(List.of(why));
        words.add("--stream=other");
        assertThat(said(1, words.toArray(String[]::new))).contains("give the dataset instead of --feed");
        said(0, "why", path(), "--state", state.toString(), "--step=0");
    }

    private void writeState(Path state, String order) throws IOException {
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            Files.writeString(
                    state,
                    "{\"stoker\":1,\"fingerprint\":\"0\",\"epoch\":0,\"batch\":0,\"dataset\":\""
                            + Dataset.open(store).info().id()
                            + "\",\"version\":1,\"split\":\"train\",\"order\":" + order + "}");
        }
    }

    @Test
    void usesOfAMountWhoseDatasetWasAway() throws IOException {
        UUID id = UUID.randomUUID();
        Path away = directory.resolve("away");
        try (ObjectStore store = new LocalObjectStore(dataset.path())) {
            new VersionUses(Dataset.open(store)).take(1, id, InstantSource.system(), "ada@host");
        }
        Files.move(dataset.path(), away);
        String current = WriterProcess.current();
        // No process of this machine has started at this time.
        String ended = current.substring(0, current.lastIndexOf('/')) + "/1";
        MountRecords records = new MountRecords(directory.resolve("records"));
        Path point = Files.createDirectory(directory.resolve("point"));
        records.add(new MountRecords.Entry(id, point, ended, List.of(path())));
        List<String> said = new ArrayList<>();
        records.unmount(point, said::add);
        Files.move(away, dataset.path());
        assertThat(said.get(0)).contains(" --end-feed " + id + " --yes");
        assertThat(follow(said.get(0), "end that with stoker expire")).contains("uses no version any more");
    }
}
