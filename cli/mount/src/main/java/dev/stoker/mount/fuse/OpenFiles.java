package dev.stoker.mount.fuse;

import dev.stoker.mount.tree.Node;
import dev.stoker.mount.tree.OpenSample;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The open files. The kernel has one size and one page cache for each path, whatever version a file was opened in. So a
 * path keeps its content as long as it is open: programs that open it meanwhile get the same. The content of a newer
 * version appears when the last one closes it. Thread-safe; the monitor of this object guards the maps.
 */
final class OpenFiles {

    /** Paths whose last content is remembered. */
    private static final int REMEMBERED = 65_536;

    /** The content that the kernel has pages of, by path. */
    private final Map<String, String> last = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > REMEMBERED;
        }
    };

    private final Map<String, Shared> open = new HashMap<>();

    /** A sample that is open at a path. */
    private static final class Shared {
        final OpenSample sample;
        int files = 1;

        Shared(OpenSample sample) {
            this.sample = sample;
        }
    }

    /**
     * An open file.
     *
     * @param hasSamePages whether the kernel's pages of the path have the content of this sample
     */
    record OpenFile(String path, OpenSample sample, boolean hasSamePages) {}

    /** Opens a file; a path that is open keeps its sample. */
    OpenFile open(String path, Node.File file) throws IOException {
        synchronized (this) {
            Shared known = open.get(path);
            if (known != null) {
                return again(path, known);
            }
        }
        // Without the lock, as it may read the head of a chunk.
        OpenSample sample = file.open();
        Shared known;
        synchronized (this) {
            known = open.putIfAbsent(path, new Shared(sample));
            if (known == null) {
                String before = last.put(path, sample.identity());
                return new OpenFile(path, sample, Objects.equals(before, sample.identity()));
            }
            known.files++;
        }
        sample.close();
        return new OpenFile(path, known.sample, true);
    }

    private static OpenFile again(String path, Shared known) {
        known.files++;
        return new OpenFile(path, known.sample, true);
    }

    /** Returns the sample that is open at a path; null if none is. */
    synchronized @Nullable OpenSample at(String path) {
        Shared known = open.get(path);
        return known == null ? null : known.sample;
    }

    void close(OpenFile file) {
        synchronized (this) {
            Shared known = Objects.requireNonNull(open.get(file.path()), "an open file");
            if (--known.files > 0) {
                return;
            }
            open.remove(file.path());
        }
        file.sample().close();
    }

    /** Closes all files. */
    void closeAll() {
        List<Shared> left;
        synchronized (this) {
            left = new ArrayList<>(open.values());
            open.clear();
        }
        left.forEach(shared -> shared.sample.close());
    }
}
