package dev.stoker.cli.feed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker ps}: the feeds of this user and machine. */
@Command(
        name = "ps",
        header = {"Example:", "  stoker ps --all"},
        description = "Lists the feeds of this machine.")
public final class PsVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Option(names = "--all", description = "Also list feeds that have ended.")
    private boolean all;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        List<FeedFile> feeds = FeedFile.list().stream()
                .filter(feed -> all || feed.state() != FeedFile.State.ENDED)
                .toList();
        var out = spec.commandLine().getOut();
        if (json) {
            ArrayNode array = Json.array();
            for (FeedFile feed : feeds) {
                ObjectNode node = feed.json().deepCopy();
                node.put("state", feed.state().name().toLowerCase(Locale.ROOT));
                array.add(node);
            }
            out.println(array);
            return 0;
        }
        if (feeds.isEmpty()) {
            out.println("no feed is running" + (all ? "" : "; stoker ps --all shows those that have ended"));
            return 0;
        }
        Table table = new Table("NAME", "STATE", "UP", "ADDRESS", "STREAMS");
        for (FeedFile feed : feeds) {
            Duration up = Duration.ofMillis(
                    System.currentTimeMillis() - feed.json().path("started_ms").asLong());
            table.add(
                    feed.name(),
                    feed.state() == FeedFile.State.GONE
                            ? feed.embedded() ? "gone (pid " + feed.pid() + ")" : "gone"
                            : feed.state().name().toLowerCase(Locale.ROOT),
                    feed.state() == FeedFile.State.RUNNING ? Units.time(up) : "-",
                    feed.addresses(),
                    feed.streams());
        }
        table.print(out);
        return 0;
    }
}
