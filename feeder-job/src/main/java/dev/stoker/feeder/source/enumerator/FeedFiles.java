package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.UsedVersions;
import dev.stoker.feeder.registry.FeedEntry;
import dev.stoker.feeder.registry.FeedRegister;
import dev.stoker.feeder.registry.JobClaim;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.feeder.registry.StopRequest;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Publishes where a feed is found: {@code feeds/<name>.json} in the user's Stoker directory of the coordinator's
 * machine. Written when every lane has its reader for the first time, and then whenever the addresses change, by
 * rename.
 *
 * <p>Flink may unload the job's classes while the coordinator closes. {@link #withdraw} therefore only uses classes
 * that earlier calls have loaded: it changes the text of an entry, and neither parses nor writes JSON.
 *
 * <p>Called by one worker thread at a time.
 */
final class FeedFiles implements LaneMaps.Hint {

    private final FeedPlan plan;
    private final JobClaim claim;
    private final long startedMs = System.currentTimeMillis();
    private final String idField;
    private final String startField;
    /** The text of the entry without addresses, for the end. */
    private final String endText;
    /** The text of the newest entry. */
    private String writtenText = "";

    private List<String> written = List.of();
    private List<String> writtenUrls = List.of();
    private Map<String, UnixAddress> writtenUnix = Map.of();
    /** Whether the coordinator has closed: a worker thread may still have maps to publish. */
    private boolean closed;

    /** Whether the uses of versions were deleted, or will never be. */
    private volatile boolean released;

    /** @param claim of the feed's name */
    FeedFiles(FeedPlan plan, JobClaim claim) throws IOException {
        this.plan = plan;
        this.claim = claim;
        idField = "\"id\":\"" + plan.id() + "\"";
        startField = "\"started_ms\":" + startedMs + ",";
        endText = FeedRegister.text(entry(List.of(), Map.of(), List.of()).running());
        // Loads the classes for the end.
        FeedRegister.textWith(endText, "ended_ms", startedMs);
        StopRequest.isThere(plan.name(), plan.id(), startedMs);
    }

    @Override
    public void claim() throws IOException {
        claim.make();
    }

    @Override
    public void unclaim() throws IOException {
        claim.close();
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
        String text =
                FeedRegister.text(entry(any.addresses(), any.unix(), statusUrls).running());
        FeedRegister.put(plan.name(), text);
        writtenText = text;
        written = any.addresses();
        writtenUnix = any.unix();
        writtenUrls = statusUrls;
    }

    /** Whether the file says that this feed serves, as it has been published here or by a coordinator before. */
    private boolean isKnown() throws IOException {
        if (!written.isEmpty()) {
            return true;
        }
        String file = FeedRegister.text(plan.name());
        return file.contains(idField) && !file.contains("\"ended_ms\":");
    }

    @Override
    public synchronized boolean isGoingOn() throws IOException {
        return isKnown();
    }

    @Override
    public boolean takeStopRequest() throws IOException {
        boolean isThere = StopRequest.isThere(plan.name(), plan.id(), startedMs);
        if (isThere) {
            // A command that waits longer than its limit can say whether the coordinator or the job is late.
            StopRequest.withdraw(plan.name());
        }
        return isThere;
    }

    @Override
    public void release() {
        // A process of the feed alone keeps its classes.
        if (!Boolean.getBoolean(StokerHome.OWN_PROCESS)) {
            deleteUses();
        }
    }

    /** Without the lock: a store may take long to answer, and the coordinator may close meanwhile. */
    private void deleteUses() {
        released = true;
        UsedVersions.release(plan);
        ClassLoaderCleanup.now();
    }

    @Override
    public synchronized void withdraw(boolean ended) throws IOException {
        closed = true;
        publishEnd(ended);
        if (!released && (ended || Boolean.getBoolean(StokerHome.OWN_PROCESS))) {
            deleteUses();
        }
    }

    private void publishEnd(boolean ended) throws IOException {
        // A coordinator that took over may end the feed before it has published anything itself.
        if (written.isEmpty() && !(ended && isKnown())) {
            return;
        }
        if (ended || Boolean.getBoolean(StokerHome.OWN_PROCESS)) {
            put(endText, "ended_ms");
            written = List.of();
            StopRequest.withdraw(plan.name());
        } else if (isOurs()) {
            // The job was cancelled or stopped, or another coordinator takes over, which trainers wait for.
            put(writtenText, "closed_ms");
        }
    }

    private void put(String text, String field) throws IOException {
        FeedRegister.put(plan.name(), FeedRegister.textWith(text, field, System.currentTimeMillis()));
    }

    /** Whether no other coordinator has written the file since. */
    private boolean isOurs() throws IOException {
        String file = FeedRegister.text(plan.name());
        return file.contains(idField) && file.contains(startField);
    }

    private FeedEntry entry(List<String> addresses, Map<String, UnixAddress> unix, List<String> statusUrls) {
        FeedPlan.Security security = plan.server().security();
        return new FeedEntry(
                plan.name(),
                plan.id(),
                Boolean.getBoolean(StokerHome.OWN_PROCESS)
                        ? OptionalLong.of(ProcessHandle.current().pid())
                        : OptionalLong.empty(),
                startedMs,
                plan.entries(),
                plan.order(),
                new FeedEntry.Trainers(
                        addresses,
                        unix,
                        statusUrls,
                        plan.ledger(),
                        Optional.ofNullable(security.tokenFile()),
                        Optional.ofNullable(security.tlsCert())));
    }
}
