package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.stoker.cli.output.Signals;
import dev.stoker.cli.output.Style;
import dev.stoker.cli.output.Terminal;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.cli.running.FeedSnapshot;
import dev.stoker.feeder.registry.FeedRegister;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker top}: a live table of the feeds of this machine. */
@Command(
        name = "top",
        header = {"Example:", "  stoker top photos"},
        description = {
            "Shows whether data is the limit, and which trainer waits for what. Shows throughput, progress and waits"
                    + " for the feeds of this machine, every second. Lists the ten trainers of a group that wait"
                    + " longest.",
            "On a terminal it draws in color, unless NO_COLOR is set, and q or Ctrl-C ends it. Otherwise it prints"
                    + " one table after the other."
        })
public final class TopVerb implements Callable<Integer> {

    /** Rates are averages over this number of seconds. */
    private static final int SECONDS = 5;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "Name of a feed. Default: all running feeds.")
    private @Nullable String name;

    @Option(names = "--once", description = "Print one table for the first second, and exit.")
    private boolean once;

    @Option(names = "--json", description = "Print JSON, one line per second.")
    private boolean json;

    private final Map<String, Deque<FeedSnapshot>> history = new HashMap<>();
    private final Map<String, TopicRates> topics = new HashMap<>();

    @Override
    public Integer call() throws Exception {
        if (name != null) {
            FeedFile.require(name);
        }
        PrintWriter out = spec.commandLine().getOut();
        CountDownLatch end = new CountDownLatch(1);
        boolean live = !once && !json && Terminal.isThere();
        Style style = live ? Style.ofTerminal() : Style.PLAIN;
        try (Signals signals = new Signals();
                Terminal terminal = live ? Terminal.open(out, end::countDown) : null) {
            signals.onStop(end::countDown);
            look();
            while (!end.await(1, TimeUnit.SECONDS)) {
                List<FeedFile> feeds = look();
                if (terminal != null) {
                    terminal.show(table(feeds, style) + "\nq ends\n");
                } else {
                    out.println(json ? json(feeds).toString() : table(feeds, style));
                }
                if (once || (name != null && feeds.isEmpty()) || out.checkError()) {
                    break;
                }
            }
        }
        return 0;
    }

    /** Requests the status of all feeds, and returns the running ones. */
    private List<FeedFile> look() throws IOException {
        List<FeedFile> feeds = FeedFile.list().stream()
                .filter(feed -> name == null || feed.name().equals(name))
                .filter(feed -> feed.state() == FeedFile.State.RUNNING)
                .toList();
        history.keySet()
                .removeIf(known -> feeds.stream().noneMatch(feed -> feed.name().equals(known)));
        for (FeedFile feed : feeds) {
            if (feed.writesToTopic()) {
                TopicRates rates = topics.computeIfAbsent(feed.name(), n -> new TopicRates(SECONDS));
                FeedRegister.findProgress(feed.name()).ifPresent(rates::add);
                continue;
            }
            Deque<FeedSnapshot> known = history.computeIfAbsent(feed.name(), n -> new ArrayDeque<>());
            if (known.size() > SECONDS) {
                known.removeFirst();
            }
            known.addLast(FeedSnapshot.of(feed));
        }
        return feeds;
    }

    private FeedRates rates(FeedFile feed) {
        Deque<FeedSnapshot> known = Objects.requireNonNull(history.get(feed.name()), "look() fills it");
        return FeedRates.between(known.getFirst(), known.getLast());
    }

    private TopicRates topic(FeedFile feed) {
        return Objects.requireNonNull(topics.get(feed.name()), "look() fills it");
    }

    private ArrayNode json(List<FeedFile> feeds) {
        ArrayNode array = Json.array();
        feeds.forEach(feed -> array.add(
                feed.writesToTopic()
                        ? topic(feed).json(feed.name())
                        : rates(feed).json(feed.name())));
        return array;
    }

    private String table(List<FeedFile> feeds, Style style) {
        if (feeds.isEmpty()) {
            return name == null ? "no feed is running; start one with stoker feed" : "feed " + name + " is not running";
        }
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        for (FeedFile feed : feeds) {
            if (feed.writesToTopic()) {
                print(feed, topic(feed), out);
            } else {
                out.println(new TopText(style).of(head(feed), rates(feed)));
            }
        }
        return text.toString().stripTrailing();
    }

    private static String head(FeedFile feed) {
        Duration up = Duration.ofMillis(
                System.currentTimeMillis() - feed.json().path("started_ms").asLong());
        return feed.name() + "   up " + Units.time(up) + "   ";
    }

    private static void print(FeedFile feed, TopicRates rates, PrintWriter out) {
        List<String> lines = rates.lines(feed.json().path("topic"));
        out.println(head(feed) + lines.get(0));
        lines.subList(1, lines.size()).forEach(line -> out.println("  " + line));
        out.println();
    }
}
