package dev.stoker.feeder.source.enumerator;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.FeedPlan;
import dev.stoker.feeder.StokerHome;
import dev.stoker.feeder.node.LaneMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;

/**
 * Publishes where a feed is found: {@code feeds/<name>.json} in the user's Stoker directory of the coordinator's machine.
 * Written when every lane has its reader, and again whenever the addresses change, by rename.
 *
 * <p>Called by one worker thread at a time.
 */
final class FeedFiles implements LaneMaps.Hint {

    /** Set where the coordinator's process belongs to this feed alone, and so may be ended to end the feed. */
    private static final String OWN_PROCESS = "stoker.own-process";

    private static final ObjectMapper JSON = new ObjectMapper();

    private final FeedPlan plan;
    private final long startedMs = System.currentTimeMillis();
    private List<String> written = List.of();

    FeedFiles(FeedPlan plan) {
        this.plan = plan;
    }

    @Override
    public synchronized void publish(Map<String, LaneMap> maps, boolean complete) throws IOException {
        List<String> addresses = maps.values().iterator().next().addresses();
        if (!complete || addresses.equals(written)) {
            return;
        }
        write(describe(addresses));
        written = addresses;
    }

    @Override
    public synchronized void withdraw() throws IOException {
        if (!written.isEmpty()) {
            write(describe(List.of()).put("ended_ms", System.currentTimeMillis()));
            written = List.of();
        }
    }

    private void write(ObjectNode json) throws IOException {
        Path file = StokerHome.feedFile(plan.name());
        Files.createDirectories(file.getParent());
        Path temporary = file.resolveSibling(
                file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        Files.write(temporary, JSON.writeValueAsBytes(json));
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private ObjectNode describe(List<String> addresses) throws IOException {
        ObjectNode json = JSON.createObjectNode();
        json.put("name", plan.name());
        json.put("id", plan.id().toString());
        if (Boolean.getBoolean(OWN_PROCESS)) {
            json.put("pid", ProcessHandle.current().pid());
        }
        json.put("started_ms", startedMs);
        ArrayNode list = json.putArray("addresses");
        addresses.forEach(list::add);
        ArrayNode streams = json.putArray("streams");
        for (FeedPlan.Stream stream : plan.streams()) {
            streams.addObject()
                    .put("name", stream.name())
                    .put("path", stream.path())
                    .put("dataset", stream.dataset().toString())
                    .put("version", stream.version())
                    .put("split", stream.split());
        }
        json.put("ledger", plan.ledger());
        json.set("order", JSON.readTree(plan.order()));
        json.put("token_file", plan.server().tokenFile());
        return json;
    }
}
