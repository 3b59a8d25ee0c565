package dev.stoker.schemas.path;

import dev.stoker.schemas.cache.BoundedCache;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The paths of keys among some samples. A directory beside a sample of the same key has another name, so a sample is
 * looked up for each directory. Remembers the directories that were used last. Thread-safe; no thread holds the lock
 * during a lookup.
 */
public final class DirectoryPaths {

    /** Characters of the directories that are remembered. */
    private static final int REMEMBERED_CHARS = 1 << 20;

    /** Characters for a remembered directory beside its own, roughly. */
    private static final int OVERHEAD_CHARS = 64;

    /** Directories that are deeper are not remembered. */
    private static final int MOST_NAMES = 64;

    /** The samples. */
    public interface Samples {

        /** Returns whether there is a sample with a key. */
        boolean has(String key) throws IOException;
    }

    private final Samples samples;

    /** The names of directories by their keys. A character counts as a byte. */
    private final BoundedCache<String, List<String>> remembered =
            new BoundedCache<>(REMEMBERED_CHARS, BoundedCache.Large.NOT_KEPT);

    public DirectoryPaths(Samples samples) {
        this.samples = samples;
    }

    /** Returns the path of the file of a key. */
    public String of(String key) throws IOException {
        return String.join("/", file(key));
    }

    /** Returns the names on the path of the file of a key. */
    public List<String> file(String key) throws IOException {
        int slash = key.lastIndexOf('/');
        List<String> names = slash < 0 ? new ArrayList<>() : directory(key.substring(0, slash));
        names.addAll(new KeyPart(key.substring(slash + 1), slash < 0, false).names());
        return names;
    }

    /**
     * Returns the names on the path of a directory.
     *
     * @param key its key, without the slash at the end
     */
    public List<String> directory(String key) throws IOException {
        List<String> names = new ArrayList<>();
        int begin = 0;
        for (int end = key.length(); end >= 0; end = key.lastIndexOf('/', end - 1)) {
            List<String> known = remembered.get(key.substring(0, end));
            if (known != null) {
                names.addAll(known);
                begin = end + 1;
                break;
            }
        }
        while (begin <= key.length()) {
            int slash = key.indexOf('/', begin);
            int end = slash < 0 ? key.length() : slash;
            String directory = key.substring(0, end);
            boolean isBeside = samples.has(directory);
            names.addAll(new KeyPart(key.substring(begin, end), begin == 0, isBeside).names());
            remember(directory, names);
            begin = end + 1;
        }
        return names;
    }

    private void remember(String directory, List<String> names) {
        if (names.size() <= MOST_NAMES) {
            remembered.put(directory, List.copyOf(names), chars(directory, names));
        }
    }

    private static long chars(String directory, List<String> names) {
        return OVERHEAD_CHARS
                + directory.length()
                + names.stream().mapToLong(String::length).sum();
    }
}
