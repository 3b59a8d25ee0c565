package dev.stoker.cli.running;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.feeder.registry.FeedRegister;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * The file of a feed on this machine.
 *
 * @param name its name
 * @param json the content of its file
 */
public record FeedFile(String name, JsonNode json) {
    /** The most feeds that an error lists. */
    private static final int NAMED = 8;

    /** The state of a feed. */
    public enum State {
        /** Its process is serving. */
        RUNNING,
        /** It ended cleanly. On a cluster also: its job was cancelled or stopped. */
        ENDED,
        /** Its process died; on a cluster: none of its servers answers, and its coordinator has not closed. */
        GONE
    }

    public static Optional<FeedFile> find(String name) throws IOException {
        return FeedRegister.find(name).map(json -> new FeedFile(name, json));
    }

    /**
     * Finds a feed by name.
     *
     * @throws CommandException listing the known feeds
     */
    public static FeedFile require(String name) throws IOException {
        Optional<FeedFile> file = find(name);
        if (file.isEmpty()) {
            throw new CommandException("there is no feed " + name + " on this machine; " + known());
        }
        return file.get();
    }

    /** Lists some of the known feeds, running ones first: files of ended feeds stay for the audit. */
    private static String known() throws IOException {
        List<FeedFile> feeds = new ArrayList<>(list());
        if (feeds.isEmpty()) {
            return "start one with stoker feed";
        }
        feeds.sort(Comparator.comparing((FeedFile feed) -> feed.state() != State.RUNNING));
        String names = feeds.stream().limit(NAMED).map(FeedFile::name).collect(Collectors.joining(", "));
        int more = feeds.size() - NAMED;
        return "known: " + names + (more > 0 ? " and " + more + " more (stoker ps --all)" : "");
    }

    public static List<FeedFile> list() throws IOException {
        List<FeedFile> feeds = new ArrayList<>();
        for (String name : FeedRegister.names()) {
            find(name).ifPresent(feeds::add);
        }
        return feeds;
    }

    public State state() {
        if (json.hasNonNull("ended_ms")) {
            return State.ENDED;
        }
        boolean there =
                embedded() ? process().isPresent() : addressList().stream().anyMatch(FeederProbe::answers);
        if (there) {
            return State.RUNNING;
        }
        return json.hasNonNull("closed_ms") ? State.ENDED : State.GONE;
    }

    /** Whether the feed writes to a topic instead of serving trainers. */
    public boolean writesToTopic() {
        return json.has("topic");
    }

    /** Whether the feed runs in its own process, rather than on a Flink cluster. */
    public boolean embedded() {
        return json.hasNonNull("pid");
    }

    public UUID id() {
        return UUID.fromString(json.path("id").asText());
    }

    public long startedMs() {
        return json.path("started_ms").asLong();
    }

    public long pid() {
        return json.path("pid").asLong();
    }

    /** The feed's process while it lives. A later process with the same id is recognized by its later start. */
    public Optional<ProcessHandle> process() {
        long startedMs = startedMs();
        return ProcessHandle.of(pid())
                .filter(ProcessHandle::isAlive)
                .filter(process -> process.info()
                        .startInstant()
                        .map(start -> start.toEpochMilli() <= startedMs + 1000)
                        .orElse(true));
    }

    public String addresses() {
        if (writesToTopic()) {
            return "kafka://" + json.at("/topic/bootstrap").asText() + "/"
                    + json.at("/topic/name").asText();
        }
        return String.join(",", addressList());
    }

    public List<String> addressList() {
        return StreamSupport.stream(json.path("addresses").spliterator(), false)
                .map(JsonNode::asText)
                .toList();
    }

    /**
     * The served streams. A version with a plus belongs to a stream that follows its dataset; the number is the present
     * version, or the one at the start if nobody reads.
     */
    public String streams() {
        return StreamSupport.stream(json.path("streams").spliterator(), false)
                .map(s -> s.path("name").asText() + "=" + s.path("path").asText() + "@" + version(s) + ":"
                        + s.path("split").asText())
                .collect(Collectors.joining(" "));
    }

    private String version(JsonNode stream) {
        long version = stream.path("version").asLong();
        if (!stream.path("follow").asBoolean()) {
            return Long.toString(version);
        }
        if (writesToTopic()) {
            return Math.max(version, TopicFiles.newestVersion(name())) + "+";
        }
        if (!json.hasNonNull("ended_ms")) {
            for (JsonNode server : FeedSnapshot.of(this).servers()) {
                for (JsonNode group : server.path("groups")) {
                    if (group.path("stream").equals(stream.path("name"))) {
                        version = Math.max(version, group.path("version").asLong());
                    }
                }
            }
        }
        return version + "+";
    }
}
