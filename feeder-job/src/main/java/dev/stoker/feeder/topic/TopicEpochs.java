package dev.stoker.feeder.topic;

import dev.stoker.feeder.topic.record.RecordMaker;
import dev.stoker.schemas.kafka.TopicInfo;
import dev.stoker.server.StreamContent;
import dev.stoker.server.window.GroupOrder;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What the epochs of a topic hold: the version of each, opened. Of a feed that follows its dataset an epoch's version
 * is chosen when it is first asked for here, unless it was before. One thread.
 */
final class TopicEpochs implements AutoCloseable {
    /** Lanes stand on two neighbouring epochs, unless some are far behind. */
    private static final int VERSIONS_KEPT = 3;

    private final TopicFeedPlan plan;
    private final StreamContent content;
    private final Map<Long, Long> chosen = new LinkedHashMap<>();
    private final Map<Long, Version> versions = new LinkedHashMap<>(8, 0.75f, true);

    /** @param content outlives this */
    TopicEpochs(TopicFeedPlan plan, StreamContent content) {
        this.plan = plan;
        this.content = content;
    }

    /**
     * A version of the stream, opened.
     *
     * @param order its order
     * @param records makes its records; until another version is asked for
     */
    record Version(TopicInfo info, GroupOrder order, RecordMaker records) {}

    boolean follows() {
        return plan.follows();
    }

    /**
     * The version of an epoch.
     *
     * @param begun the version that it was begun with; 0 if it was not
     * @throws dev.stoker.metadata.follow.OtherVersionException if another was chosen
     * @throws IOException if the choice cannot be made, or the version cannot be opened or written
     */
    Version of(long epoch, long begun) throws IOException {
        return open(follows() ? choose(epoch, begun) : content.order().stream().version());
    }

    private long choose(long epoch, long begun) throws IOException {
        Long known = chosen.get(epoch);
        if (known == null || (begun != 0 && begun != known)) {
            known = content.versions()
                    .orElseThrow()
                    .choose(
                            TopicChoices.group(plan.target().topic()),
                            epoch,
                            begun == 0 ? OptionalLong.empty() : OptionalLong.of(begun),
                            this::open);
            chosen.put(epoch, known);
            if (chosen.size() > 64) {
                chosen.remove(chosen.keySet().iterator().next());
            }
        }
        return known;
    }

    private Version open(long version) throws IOException {
        Version open = versions.get(version);
        if (open == null) {
            GroupOrder order = content.order(version);
            TopicInfo info = TopicInfos.of(plan, order);
            open = new Version(info, order, RecordMaker.of(content, order, info));
            versions.put(version, open);
            if (versions.size() > VERSIONS_KEPT) {
                Iterator<Version> oldest = versions.values().iterator();
                oldest.next().records().close();
                oldest.remove();
            }
        }
        return open;
    }

    @Override
    public void close() {
        versions.values().forEach(version -> version.records().close());
        versions.clear();
    }
}
