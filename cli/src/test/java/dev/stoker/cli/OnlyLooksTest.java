package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.registry.FeedEntry;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.Fingerprint;
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
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A command that only looks leaves no trace: in no file of the dataset, of its ledgers, of feeds and of sources. */
@Timeout(120)
class OnlyLooksTest extends DatasetVerbs {

    /** Verbs that serve, write, or start another program. {@code VisitTest} looks at the pages of browse. */
    private static final Set<String> OTHERS =
            Set.of("run", "feed", "stop", "mirror", "mount", "unmount", "browse", "sql", "bench");

    private final UUID feed = UUID.randomUUID();
    private final String name = "looked-at-" + feed;
    private Path work;
    private NodeLease node;

    @BeforeEach
    void serve() throws IOException {
        dataset.append(4, 100, 3);
        work = Files.createDirectories(directory.resolve("work"));
        Files.createDirectories(directory.resolve("tree/cat"));
        Files.writeString(directory.resolve("tree/cat/1.txt"), "purr");
        Files.writeString(directory.resolve("updates.csv"), "key,score\n" + key(0, 0) + ",0.5\n");
        FeedSpec spec = new FeedSpec(
                feed,
                "photos",
                List.of(dataset.stream("train")),
                OrderSpec.defaults().toJson(),
                List.of(),
                OptionalLong.empty(),
                OnCorrupt.FAIL);
        node = FeedNode.acquire(
                spec, ServerOptions.defaults().withPorts(PortRange.ANY).withLinger(Duration.ZERO));
        FeedEntry.Trainers trainers = new FeedEntry.Trainers(
                List.of(node.address()),
                Map.of(),
                node.statusUrl().stream().toList(),
                ledger().toString(),
                Optional.empty(),
                Optional.empty());
        FeedEntry entry = new FeedEntry(
                name,
                feed,
                OptionalLong.empty(),
                1,
                spec.streams(),
                OrderSpec.defaults().toJson(),
                trainers);
        Files.createDirectories(StokerHome.feeds());
        Files.writeString(StokerHome.feedFile(name), entry.running().toString());
        writeLedger();
    }

    private Path ledger() {
        return dataset.path().resolve("_stoker/feeds/" + feed + "/ledger");
    }

    /** A trainer has asked for the first epoch. */
    private void writeLedger() throws IOException {
        try (ObjectStore store = new LocalObjectStore(dataset.path());
                OutputStream out =
                        Files.newOutputStream(Files.createDirectories(ledger()).resolve("part-0-0.avro"))) {
            Dataset opened = Dataset.open(store);
            Snapshot snapshot = opened.snapshot();
            OrderSpec order = OrderSpec.defaults();
            Fingerprint fingerprint =
                    Fingerprint.of(opened.info().id(), snapshot.version(), "train", snapshot.stream("train"), order);
            LedgerWriter writer = new LedgerWriter(out, new byte[16]);
            writer.write(new Subscription(
                    1000,
                    new Consumer(feed.toString(), "train", "default", fingerprint.text(), 5, 0, 1, 0, 1, 0),
                    0,
                    0,
                    1,
                    1,
                    "pad",
                    new Source(opened.info().id().toString(), snapshot.version(), "train", order.toJson()),
                    View.whole(opened.info().fields().stream().map(Field::name).toList())
                            .text()));
            writer.finish();
        }
    }

    @AfterEach
    void end() throws IOException {
        Files.deleteIfExists(StokerHome.feedFile(name));
        node.close();
    }

    private List<List<String>> commands() throws IOException {
        List<List<String>> commands = new ArrayList<>(EveryVerb.of(
                dataset.path(), key(0, 0), directory.resolve("tree"), directory.resolve("updates.csv"), work));
        // Starts Flink, so once is enough.
        commands.removeIf(command -> command.contains("sync") && command.contains("--json"));
        commands.add(List.of("audit", name));
        commands.add(List.of("audit", name, "--json", "--epochs", "1"));
        commands.add(List.of("audit", "--ledger", ledger().toString()));
        commands.add(List.of("top", name, "--once"));
        commands.add(List.of("top", name, "--once", "--json"));
        commands.add(List.of("wait", name));
        commands.add(List.of("ps"));
        commands.add(List.of("why", "--feed", name, "--step", "0"));
        return commands;
    }

    @Test
    void noFileChanges() throws IOException {
        List<List<String>> commands = commands();
        Set<String> verbs = new TreeSet<>(OTHERS);
        commands.forEach(command -> verbs.add(command.get(0)));
        assertThat(verbs)
                .as("a new verb looks, or belongs to the others")
                .isEqualTo(new TreeSet<>(Stoker.command().getSubcommands().keySet()));
        SoftAssertions all = new SoftAssertions();
        Map<String, String> before = picture();
        for (List<String> command : commands) {
            int code = stoker(command.toArray(String[]::new));
            // The audit misses the epoch that it is to require.
            all.assertThat(code)
                    .as("%s: %s%s", command, out, err)
                    .isEqualTo(command.contains("--epochs") && command.contains("audit") ? 1 : 0);
            Map<String, String> after = picture();
            all.assertThat(after).as("%s", command).isEqualTo(before);
            before = after;
        }
        all.assertThat(node.groupFacts()).as("no trainer reads").isEmpty();
        all.assertAll();
    }

    private Map<String, String> picture() throws IOException {
        // Pages of the manual are written where the user says.
        Path pages = work.resolve("man");
        return FilesSeen.of(path -> !path.startsWith(pages) && !path.equals(work), directory, StokerHome.feeds());
    }
}
