package dev.stoker.mount.tree;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.erasure.DeletedChunks;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.server.chunks.ChunkSources;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One dataset as a tree: a pinned version, or the newest one, and all others in a hidden directory. Each version that
 * is shown or open has a use, so it is not expired meanwhile. Thread-safe; the monitor of this object guards the
 * versions and is held while one is opened.
 */
final class DatasetTree implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DatasetTree.class);

    /** Versions of the hidden directory that stay open. */
    private static final int OLDER_KEPT = 8;

    /** The directory with the versions of the dataset. No key has this name. */
    private static final String HIDDEN = ".stoker";

    private static final String VERSIONS = "versions";

    private final UUID mount;
    private final ChunkSources sources;
    private final OpenVersion.Shared shared;
    private final DeletedChunks deleted;
    private final boolean isPinned;
    private final boolean listsVersions;
    /** Open versions of the hidden directory, longest unused first. */
    private final Map<Long, OpenVersion> older = new LinkedHashMap<>(16, 0.75f, true);
    /** How many open versions have a number. */
    private final Map<Long, Integer> uses = new HashMap<>();

    /** The field that is the content, also of other versions; null for the usual one of the first version. */
    private volatile @Nullable String field;

    private volatile OpenVersion shown;
    /** The version that was shown before, for the time in which readers may remember its attributes. */
    private volatile @Nullable Before before;

    /**
     * @param mount the id of the mount, which has the uses
     * @param given the version to show and the field that is the content
     * @param listsVersions whether the hidden directory is listed
     */
    DatasetTree(
            UUID mount, OpenVersion.Shared shared, ChunkSources sources, MountedDataset given, boolean listsVersions)
            throws IOException {
        OptionalLong pinned = given.version();
        this.mount = mount;
        this.shared = shared;
        this.sources = sources;
        this.isPinned = pinned.isPresent();
        this.listsVersions = listsVersions;
        this.deleted = new DeletedChunks(shared.dataset());
        dropErased();
        long newest = shared.dataset().latestVersion();
        if (pinned.isEmpty() && newest == 0) {
            throw new UnknownVersionException(shared.dataset().where(), 0, 0);
        }
        this.field = given.field();
        this.shown = open(pinned.orElse(newest));
        this.field = shown.content().name();
    }

    /**
     * A version that was shown before.
     *
     * @param untilNanos time of {@link System#nanoTime} from which nobody remembers its attributes
     */
    private record Before(OpenVersion version, long untilNanos) {

        boolean isOver() {
            return System.nanoTime() - untilNanos >= 0;
        }
    }

    /** Returns the version that the tree shows. */
    OpenVersion shown() {
        return shown;
    }

    /**
     * Shows the newest version, unless a version is pinned. Open files and listings keep theirs. For one thread.
     *
     * @return whether another version is shown now
     */
    boolean follow() throws IOException {
        if (isPinned) {
            return false;
        }
        Before known = before;
        if (known != null && known.isOver()) {
            before = null;
            known.version().release();
        }
        long newest = shared.dataset().latestVersion();
        if (before != null || newest <= shown.number()) {
            return false;
        }
        dropErased();
        OpenVersion next = open(newest);
        before = new Before(
                shown, System.nanoTime() + MountTree.REMEMBERED.multipliedBy(2).toNanos());
        shown = next;
        LOG.info("{} now shows version {}", shared.dataset().where(), newest);
        return true;
    }

    /** Drops copies of chunks that erasures have deleted. */
    private void dropErased() {
        try {
            Set<UUID> chunks = deleted.next();
            if (!chunks.isEmpty()) {
                sources.erase(shared.dataset().store(), chunks);
            }
        } catch (IOException e) {
            LOG.warn(
                    "Copies of erased chunks of {} may be kept: {}",
                    shared.dataset().where(),
                    e.toString());
        }
    }

    /** Returns what a path below the root of the dataset names; empty if nothing. */
    Optional<Node> find(List<String> names) throws IOException {
        OpenVersion now = shown;
        if (names.isEmpty()) {
            Node.Directory root = now.root();
            return Optional.of(listsVersions ? new WithHidden(root) : root);
        }
        if (!names.get(0).equals(HIDDEN)) {
            Optional<Node> found = now.find(names);
            return found.isPresent() && found.get() instanceof Node.File file
                    ? Optional.of(settled(names, file))
                    : found;
        }
        if (names.size() == 1) {
            return Optional.of(new FixedDirectory(List.of(new Listed(VERSIONS, true)), now.committedMs()));
        }
        if (!names.get(1).equals(VERSIONS)) {
            return Optional.empty();
        }
        if (names.size() == 2) {
            return Optional.of(new FixedDirectory(versions(), now.committedMs()));
        }
        Optional<OpenVersion> version = older(names.get(2));
        return version.isEmpty() ? Optional.empty() : version.get().find(names.subList(3, names.size()));
    }

    /** Delays the opening of a file whose size has just changed: a reader would stop at the size that it remembers. */
    private Node.File settled(List<String> names, Node.File file) throws IOException {
        Before known = before;
        if (known == null || known.isOver()) {
            return file;
        }
        Optional<Node> earlier = known.version().find(names);
        return earlier.isPresent() && earlier.get() instanceof Node.File other && other.size() != file.size()
                ? new LaterFile(file, known.untilNanos())
                : file;
    }

    private List<Listed> versions() throws IOException {
        var newest = shared.dataset().latest();
        List<Listed> versions = new ArrayList<>();
        for (long version = 1; version <= newest.version(); version++) {
            if (!newest.table().expired().contains(version)) {
                versions.add(new Listed(Long.toString(version), true));
            }
        }
        return versions;
    }

    private Optional<OpenVersion> older(String name) throws IOException {
        if (!name.matches("[1-9][0-9]{0,17}")) {
            return Optional.empty();
        }
        long number = Long.parseLong(name);
        OpenVersion closing = null;
        OpenVersion found;
        synchronized (this) {
            found = older.get(number);
            if (found == null) {
                try {
                    found = open(number);
                } catch (UnknownVersionException | ExpiredVersionException e) {
                    return Optional.empty();
                } catch (IllegalArgumentException e) {
                    throw new IOException("version " + number + " cannot be shown: " + e.getMessage(), e);
                }
                older.put(number, found);
                if (older.size() > OLDER_KEPT) {
                    long oldest = older.keySet().iterator().next();
                    closing = older.remove(oldest);
                }
            }
        }
        if (closing != null) {
            closing.release();
        }
        return Optional.of(found);
    }

    /** Opens a version that is not open, or one of its number a second time. */
    private synchronized OpenVersion open(long number) throws IOException {
        if (number < 1 || number > shared.dataset().latestVersion()) {
            throw new UnknownVersionException(
                    shared.dataset().where(), number, shared.dataset().latestVersion());
        }
        use(number);
        try {
            return new OpenVersion(shared, shared.dataset().snapshot(number), field, () -> unuse(number));
        } catch (IOException | RuntimeException e) {
            unuse(number);
            throw e;
        }
    }

    /** Protects the version from being expired, unless the dataset cannot be written. */
    private void use(long number) throws IOException {
        if (uses.merge(number, 1, Integer::sum) > 1) {
            return;
        }
        try {
            new VersionUses(shared.dataset()).take(number, mount, InstantSource.system(), WriterProcess.user());
        } catch (ExpiredVersionException e) {
            uses.remove(number);
            throw e;
        } catch (IOException e) {
            LOG.warn(
                    "Version {} of {} is not protected from stoker expire, because its use was not written: {}",
                    number,
                    shared.dataset().where(),
                    e.toString());
        }
    }

    private synchronized void unuse(long number) {
        if (uses.computeIfPresent(number, (key, count) -> count == 1 ? null : count - 1) != null) {
            return;
        }
        endUse(number);
    }

    private void endUse(long number) {
        try {
            new VersionUses(shared.dataset()).release(number, mount);
        } catch (IOException e) {
            LOG.warn(
                    "The use of version {} of {} was not removed; stoker unmount removes it: {}",
                    number,
                    shared.dataset().where(),
                    e.toString());
        }
    }

    boolean isPinned() {
        return isPinned;
    }

    Dataset dataset() {
        return shared.dataset();
    }

    @Override
    public void close() {
        List<OpenVersion> open;
        synchronized (this) {
            open = new ArrayList<>(older.values());
            older.clear();
        }
        Before known = before;
        before = null;
        if (known != null) {
            open.add(known.version());
        }
        open.add(shown);
        open.forEach(OpenVersion::release);
        // Programs may have files of a mount open that has ended.
        List<Long> left;
        synchronized (this) {
            left = new ArrayList<>(uses.keySet());
        }
        left.forEach(this::endUse);
    }

    /** A file that is opened at a time or later. */
    private record LaterFile(Node.File file, long nanos) implements Node.File {

        @Override
        public long modifiedMs() {
            return file.modifiedMs();
        }

        @Override
        public long size() {
            return file.size();
        }

        @Override
        public OpenSample open() throws IOException {
            try {
                TimeUnit.NANOSECONDS.sleep(nanos - System.nanoTime());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while opening a file");
            }
            return file.open();
        }
    }

    /** A directory that begins with the hidden one. */
    private record WithHidden(Node.Directory directory) implements Node.Directory {

        @Override
        public long modifiedMs() {
            return directory.modifiedMs();
        }

        @Override
        public DirectoryListing list() throws IOException {
            DirectoryListing rest = directory.list();
            return new DirectoryListing() {
                private boolean begun;

                @Override
                public Optional<Listed> next() throws IOException {
                    if (!begun) {
                        begun = true;
                        return Optional.of(new Listed(HIDDEN, true));
                    }
                    return rest.next();
                }

                @Override
                public void close() {
                    rest.close();
                }
            };
        }
    }
}
