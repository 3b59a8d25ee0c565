package dev.stoker.feeder.source.enumerator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.StokerHome;
import dev.stoker.feeder.plan.StopRequest;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.UnixAddress;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.transport.RegularFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;

/**
 * Publishes where a feed is found: {@code feeds/<name>.json} in the user's Stoker directory of the coordinator's
 * machine. Written when every lane has its reader for the first time, and then whenever the addresses change, by
 * rename.
 *
 * <p>Called by one worker thread at a time.
 */
final class FeedFiles implements LaneMaps.Hint {

    /** Set where the coordinator's process belongs to this feed alone, and so may be ended to end the feed. */
    private static final String OWN_PROCESS = "stoker.own-process";

    private static final int MAX_BYTES = 1 << 24;

    private static final ObjectMapper JSON = new ObjectMapper();

    private final FeedPlan plan;
    private final long startedMs = System.currentTimeMillis();
    private List<String> written = List.of();
    private List<String> writtenUrls = List.of();
    private Map<String, UnixAddress> writtenUnix = Map.of();
    /** Whether the coordinator has closed: a worker thread may still have maps to publish. */
    private boolean closed;

    FeedFiles(FeedPlan plan) {
        this.plan = plan;
    }

    @Override
    public synchronized void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete)
            throws IOException {
        LaneMap any = maps.values().iterator().next();
        boolean same =
                any.addresses().equals(written) && any.unix().equals(writtenUnix) && statusUrls.equals(writtenUrls);
        // Trainers of a feed that has served before wait for whatever server is left; any serves every lane.
        if (closed || same || !(complete || isKnown())) {
            return;
        }
        write(describe(any.addresses(), any.unix(), statusUrls));
        written = any.addresses();
        writtenUnix = any.unix();
        writtenUrls = statusUrls;
    }

    /** Whether the file says that this feed serves, as it has been published here or by a coordinator before. */
    private boolean isKnown() throws IOException {
        if (!written.isEmpty()) {
            return true;
        }
        JsonNode file = read();
        return isOfThisFeed(file) && !file.hasNonNull("ended_ms");
    }

    @Override
    public synchronized boolean isGoingOn() throws IOException {
        return isKnown();
    }

    /** What the file says; a missing node if there is none. */
    private JsonNode read() throws IOException {
        try {
            return JSON.readTree(RegularFile.read(StokerHome.feedFile(plan.name()), MAX_BYTES));
        } catch (NoSuchFileException e) {
            return MissingNode.getInstance();
        }
    }

    private boolean isOfThisFeed(JsonNode file) {
        return file.path("id").asText().equals(plan.id().toString());
    }

    @Override
    public boolean isStopRequested() throws IOException {
        return StopRequest.isThere(plan.name(), plan.id(), startedMs);
    }

    @Override
    public synchronized void withdraw(boolean ended) throws IOException {
        closed = true;
        // A coordinator that took over may end the feed before it has published anything itself.
        if (written.isEmpty() && !(ended && isKnown())) {
            return;
        }
        if (ended || Boolean.getBoolean(OWN_PROCESS)) {
            write(describe(List.of(), Map.of(), List.of()).put("ended_ms", System.currentTimeMillis()));
            written = List.of();
            StopRequest.withdraw(plan.name());
        } else if (isOurs()) {
            // The job was cancelled or stopped, or another coordinator takes over, which trainers wait for.
            write(describe(written, writtenUnix, writtenUrls).put("closed_ms", System.currentTimeMillis()));
        }
    }

    /** Whether no other coordinator has written the file since. */
    private boolean isOurs() throws IOException {
        JsonNode file = read();
        return isOfThisFeed(file) && file.path("started_ms").asLong() == startedMs;
    }

    private void write(ObjectNode json) throws IOException {
        // It says where the token lies, and what runs here.
        PrivateFiles.replace(StokerHome.feedFile(plan.name()), JSON.writeValueAsBytes(json));
    }

    private ObjectNode describe(List<String> addresses, Map<String, UnixAddress> unix, List<String> statusUrls)
            throws IOException {
        ObjectNode json = JSON.createObjectNode();
        json.put("name", plan.name());
        json.put("id", plan.id().toString());
        if (Boolean.getBoolean(OWN_PROCESS)) {
            json.put("pid", ProcessHandle.current().pid());
        }
        json.put("started_ms", startedMs);
        ArrayNode list = json.putArray("addresses");
        addresses.forEach(list::add);
        ObjectNode sockets = json.putObject("unix");
        unix.forEach((address, place) ->
                sockets.putObject(address).put("host", place.host()).put("path", place.path()));
        statusUrls.forEach(json.putArray("status")::add);
        ArrayNode streams = json.putArray("streams");
        for (FeedPlan.Stream stream : plan.streams()) {
            streams.addObject()
                    .put("name", stream.name())
                    .put("path", stream.path())
                    .put("dataset", stream.dataset().toString())
                    .put("version", stream.version())
                    .put("follow", stream.follow())
                    .put("split", stream.split());
        }
        json.put("ledger", plan.ledger());
        json.set("order", JSON.readTree(plan.order()));
        json.put("token_file", plan.server().security().tokenFile());
        json.put("tls_cert", plan.server().security().tlsCert());
        return json;
    }
}
