package dev.stoker.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.StokerHome;
import dev.stoker.feeder.topic.TopicFeedPlan;
import dev.stoker.feeder.topic.TopicProgress;
import dev.stoker.flink.failure.Waits;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files in which a feed to a topic describes itself on its machine: {@code feeds/<name>.json}, and beside it the
 * feed's progress, which is rewritten each second. One thread.
 *
 * <p>Such a feed has no server that could be asked. The topic does not tell which consumer a lane waits for, and a
 * port for this alone would need tokens and certificates. A file that cannot be written does not end the feed. On a
 * Flink cluster there are no such files, since Flink's page shows the job.
 */
final class TopicFiles {
    private static final Logger LOG = LoggerFactory.getLogger(TopicFiles.class);

    private final TopicFeedPlan plan;
    private final long startedMs = System.currentTimeMillis();

    TopicFiles(TopicFeedPlan plan) {
        this.plan = plan;
    }

    /** Publishes the running feed. */
    void publish() throws IOException {
        write(StokerHome.feedFile(plan.feed().name()), describe());
    }

    /** Publishes the feed's progress. */
    void publish(TopicProgress.Snapshot now) throws IOException {
        ObjectNode json = Json.object();
        json.put("at_ms", System.currentTimeMillis());
        json.put("records", now.records()).put("rows", now.rows()).put("bytes", now.bytes());
        now.waitsFor().forEach(json.putArray("waits_for")::add);
        Waits.all().forEach(json.putArray("problems")::add);
        ArrayNode lanes = json.putArray("lanes");
        for (TopicProgress.Lane lane : now.lanes()) {
            ObjectNode shown = lanes.addObject()
                    .put("lane", lane.lane())
                    .put("epoch", lane.epoch())
                    .put("batch", lane.batch())
                    .put("waits_for", lane.waitsFor());
            if (lane.version() > 0) {
                shown.put("version", lane.version());
            }
        }
        write(progressFile(plan.feed().name()), json);
    }

    /** Publishes the feed's end. */
    void withdraw() throws IOException {
        write(StokerHome.feedFile(plan.feed().name()), describe().put("ended_ms", System.currentTimeMillis()));
    }

    /** Reads the last progress of a feed. */
    static Optional<JsonNode> progress(String feed) throws IOException {
        try {
            return Optional.of(Json.MAPPER.readTree(RegularFile.read(progressFile(feed), FeedFile.MAX_BYTES)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    /** The newest version with which a feed that follows its dataset has begun an epoch; 0 for none or if unknown. */
    static long newestVersion(String feed) {
        long newest = 0;
        try {
            for (JsonNode lane : progress(feed).map(now -> now.path("lanes")).orElseGet(Json::array)) {
                newest = Math.max(newest, lane.path("version").asLong());
            }
        } catch (IOException e) {
            LOG.debug("Cannot read the progress of feed {}", feed, e);
        }
        return newest;
    }

    private static Path progressFile(String feed) {
        return StokerHome.feedFile(feed).resolveSibling(feed + ".progress");
    }

    private ObjectNode describe() throws IOException {
        FeedPlan feed = plan.feed();
        ObjectNode json = Json.object();
        json.put("name", feed.name()).put("id", feed.id().toString());
        json.put("pid", ProcessHandle.current().pid()).put("started_ms", startedMs);
        json.putArray("addresses");
        json.putObject("topic")
                .put("bootstrap", plan.target().bootstrap())
                .put("name", plan.target().topic())
                .put("partitions", plan.lanes())
                .put("world_size", plan.worldSize())
                .put("delivery", plan.target().exactlyOnce() ? "exactly-once" : "at-least-once");
        ArrayNode streams = json.putArray("streams");
        FeedPlan.Stream stream = feed.streams().get(0);
        streams.addObject()
                .put("name", stream.name())
                .put("path", stream.path())
                .put("dataset", stream.dataset().toString())
                .put("version", stream.version())
                .put("split", stream.split())
                .put("follow", stream.follow());
        json.set("order", Json.MAPPER.readTree(feed.order()));
        return json;
    }

    private static void write(Path file, ObjectNode json) throws IOException {
        PrivateFiles.replace(file, Json.MAPPER.writeValueAsBytes(json));
    }
}
