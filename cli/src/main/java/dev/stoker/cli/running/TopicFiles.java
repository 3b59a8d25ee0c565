package dev.stoker.cli.running;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.UsedVersions;
import dev.stoker.feeder.registry.FeedEntry;
import dev.stoker.feeder.registry.FeedRegister;
import dev.stoker.feeder.topic.TopicFeedPlan;
import dev.stoker.feeder.topic.TopicProgress;
import dev.stoker.flink.failure.Outages;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.OptionalLong;
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
public final class TopicFiles {
    private static final Logger LOG = LoggerFactory.getLogger(TopicFiles.class);

    private final TopicFeedPlan plan;
    private final long startedMs = System.currentTimeMillis();

    public TopicFiles(TopicFeedPlan plan) {
        this.plan = plan;
    }

    /** Publishes the running feed. */
    public void publish() throws IOException {
        FeedRegister.put(plan.feed().name(), FeedRegister.text(entry().running()));
    }

    /** Publishes the feed's progress. */
    public void publish(TopicProgress.Snapshot now) throws IOException {
        ObjectNode json = Json.object();
        json.put("at_ms", System.currentTimeMillis());
        json.put("records", now.records()).put("rows", now.rows()).put("bytes", now.bytes());
        now.waitsFor().forEach(json.putArray("waits_for")::add);
        Outages.all().forEach(json.putArray("problems")::add);
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
        FeedRegister.putProgress(plan.feed().name(), json);
    }

    /** Publishes the feed's end. */
    public void withdraw() throws IOException {
        FeedRegister.put(plan.feed().name(), FeedRegister.text(entry().ended(System.currentTimeMillis())));
        UsedVersions.release(plan.feed());
    }

    /** The newest version with which a feed that follows its dataset has begun an epoch; 0 for none or if unknown. */
    public static long newestVersion(String feed) {
        long newest = 0;
        try {
            for (JsonNode lane : FeedRegister.findProgress(feed)
                    .map(now -> now.path("lanes"))
                    .orElseGet(Json::array)) {
                newest = Math.max(newest, lane.path("version").asLong());
            }
        } catch (IOException e) {
            LOG.debug("Cannot read the progress of feed {}", feed, e);
        }
        return newest;
    }

    private FeedEntry entry() {
        FeedPlan feed = plan.feed();
        return new FeedEntry(
                feed.name(),
                feed.id(),
                OptionalLong.of(ProcessHandle.current().pid()),
                startedMs,
                feed.entries(),
                feed.order(),
                new FeedEntry.Topic(
                        plan.target().bootstrap(),
                        plan.target().topic(),
                        plan.lanes(),
                        plan.worldSize(),
                        plan.target().exactlyOnce() ? "exactly-once" : "at-least-once"));
    }
}
