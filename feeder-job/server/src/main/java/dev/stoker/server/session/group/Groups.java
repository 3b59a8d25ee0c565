package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.GroupFacts;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The groups of one stream. A group is open while a session is in it; only open groups count against limits. A group
 * that has subscribed is remembered when its last session leaves: it is shown with its figures until others need the
 * room, and after that keeps its order, its run and its fences, until {@link #MAX_REMEMBERED} other groups have left
 * after it. Thread-safe.
 */
public final class Groups {
    /** Open groups beyond this are refused, so that made-up names cannot fill the memory. */
    static final int MAX_OPEN = 256;

    static final int MAX_REMEMBERED = 10_000;
    /** Of all remembered groups together. */
    private static final int MAX_PLACES = 1 << 18;

    private static final class Entry {
        final Group group;
        int sessions;

        Entry(Group group) {
            this.group = group;
        }
    }

    private final String stream;
    /** Open groups, and the last ones that were; those that left first come first. Guarded by this. */
    private final Map<String, Entry> shown = new LinkedHashMap<>();
    /** Groups that left earlier. Guarded by this. */
    private final Map<String, Group> remembered = new LinkedHashMap<>();

    private int rememberedPlaces;
    /** Groups that sessions are in. Written under the monitor; a group reads it while it holds its own monitor. */
    private volatile int open;

    public Groups(String stream) {
        this.stream = stream;
    }

    /**
     * Opens the group for one session more; each call wants one of {@link #leave}.
     *
     * @throws ProtocolException if too many groups are open
     */
    synchronized Group enter(String name) throws ProtocolException {
        Entry entry = shown.get(name);
        if (entry == null) {
            if (shown.size() >= MAX_OPEN && !makeRoom()) {
                throw new ProtocolException(
                        ErrorCode.INTERNAL, "stream " + stream + " is being read by " + MAX_OPEN + " groups already");
            }
            entry = new Entry(recall(name));
            shown.put(name, entry);
        }
        if (entry.sessions++ == 0) {
            open++;
        }
        return entry.group;
    }

    /** A session that entered has left. */
    synchronized void leave(String name) {
        Entry entry = Objects.requireNonNull(shown.get(name), "a group that sessions entered is shown");
        entry.sessions--;
        if (entry.sessions == 0) {
            open--;
            shown.remove(name);
            if (entry.group.isFixed()) {
                shown.put(name, entry);
            }
        }
    }

    /** The group, if it has subscribed and is remembered, or is open. */
    public synchronized Optional<Group> find(String name) {
        Entry entry = shown.get(name);
        return entry == null ? Optional.ofNullable(remembered.get(name)) : Optional.of(entry.group);
    }

    /** Takes over what another node knows of a group. */
    public synchronized void learn(GroupFacts facts) {
        Optional<Group> known = find(facts.group());
        Group group = known.orElseGet(() -> new Group(stream, facts.group()));
        group.learn(facts);
        if (known.isPresent()) {
            return;
        }
        if (shown.size() < MAX_OPEN) {
            shown.put(facts.group(), new Entry(group));
        } else {
            remember(facts.group(), group);
        }
    }

    /** Groups that sessions are in. Takes no lock, because groups ask while they hold their own. */
    int open() {
        return open;
    }

    /** Open groups, and the last ones that were. */
    synchronized List<Group> shown() {
        List<Group> groups = new ArrayList<>();
        shown.values().forEach(entry -> groups.add(entry.group));
        return groups;
    }

    private boolean makeRoom() {
        for (Map.Entry<String, Entry> entry : shown.entrySet()) {
            if (entry.getValue().sessions == 0) {
                shown.remove(entry.getKey());
                remember(entry.getKey(), entry.getValue().group);
                return true;
            }
        }
        return false;
    }

    private void remember(String name, Group group) {
        group.slim();
        remembered.put(name, group);
        rememberedPlaces += group.places();
        Iterator<Group> oldest = remembered.values().iterator();
        while (remembered.size() > MAX_REMEMBERED || (rememberedPlaces > MAX_PLACES && remembered.size() > 1)) {
            rememberedPlaces -= oldest.next().places();
            oldest.remove();
        }
    }

    private Group recall(String name) {
        Group group = remembered.remove(name);
        if (group == null) {
            return new Group(stream, name);
        }
        rememberedPlaces -= group.places();
        return group;
    }
}
