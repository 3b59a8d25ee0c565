package dev.stoker.hadoop;

import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/**
 * The settings of one file system.
 *
 * @param name the name of the dataset in URIs
 * @param dataset the dataset, with the version and the split that are read, if they are given
 * @param field the field whose values are the contents of the files, if it is given
 * @param chunkCacheBytes memory for whole chunks
 * @param headCacheBytes memory for heads
 * @param wholeSampleBytes length up to which a sample is read into memory at once
 * @param store settings of Hadoop for the store of the dataset
 */
record FileSystemSettings(
        String name,
        DatasetReference dataset,
        Optional<String> field,
        long chunkCacheBytes,
        long headCacheBytes,
        long wholeSampleBytes,
        Map<String, String> store) {

    static final String SCHEME = "stoker";
    /** With the name of a dataset after it: where the dataset is. */
    static final String DATASET = "fs.stoker.dataset.";
    /** With the name of a dataset after it: the field whose values are the contents of the files. */
    static final String FIELD = "fs.stoker.field.";

    static final String CHUNK_CACHE = "fs.stoker.cache.chunks";
    static final String HEAD_CACHE = "fs.stoker.cache.heads";
    static final String WHOLE_SAMPLE = "fs.stoker.whole.sample";

    private static final long CHUNK_CACHE_BYTES = 128L << 20;
    private static final long HEAD_CACHE_BYTES = 32L << 20;
    private static final long WHOLE_SAMPLE_BYTES = 64L << 20;

    private static final Pattern AUTHORITY =
            Pattern.compile("(?<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:@(?<version>" + VersionName.SYNTAX + "))?");

    FileSystemSettings {
        store = Map.copyOf(store);
    }

    /** Reads the settings for a URI. */
    static FileSystemSettings of(URI uri, Configuration conf) throws IOException {
        String authority = uri.getAuthority() == null ? "" : uri.getAuthority();
        Matcher matcher = AUTHORITY.matcher(authority);
        if (!matcher.matches()) {
            throw new IOException("'" + uri + "' does not name a dataset; expected stoker://NAME/… or"
                    + " stoker://NAME@VERSION/…, with a number or a tag as the version");
        }
        String name = matcher.group("name");
        return new FileSystemSettings(
                name,
                dataset(conf, name, Optional.ofNullable(matcher.group("version"))),
                Optional.ofNullable(conf.getTrimmed(FIELD + name)).filter(field -> !field.isEmpty()),
                bytes(conf, CHUNK_CACHE, CHUNK_CACHE_BYTES),
                bytes(conf, HEAD_CACHE, HEAD_CACHE_BYTES),
                bytes(conf, WHOLE_SAMPLE, WHOLE_SAMPLE_BYTES),
                given(conf));
    }

    private static DatasetReference dataset(Configuration conf, String name, Optional<String> version)
            throws IOException {
        String location = conf.getTrimmed(DATASET + name, "");
        if (location.isEmpty()) {
            throw new IOException("stoker://" + name + ": no dataset has the name " + name + "; set " + DATASET + name
                    + " to its directory or URI");
        }
        DatasetReference dataset = DatasetReference.parse(location)
                .orElseThrow(() -> new IOException(
                        DATASET + name + " is '" + location + "'; expected a directory or URI of a dataset"));
        if (dataset.path().startsWith(SCHEME + ":")) {
            throw new IOException(DATASET + name + " is '" + location + "'; a dataset is never on a stoker:// file"
                    + " system; give the location of its directory");
        }
        if (version.isEmpty()) {
            return dataset;
        }
        if (dataset.version().isPresent()) {
            throw new IOException("stoker://" + name + "@" + version.get() + " names a version, and so does " + DATASET
                    + name + ", which is '" + location + "'; remove one of them");
        }
        return dataset.in(new VersionName(version.get()));
    }

    private static long bytes(Configuration conf, String setting, long otherwise) throws IOException {
        try {
            long bytes = conf.getLongBytes(setting, otherwise);
            if (bytes >= 0) {
                return bytes;
            }
        } catch (IllegalArgumentException e) {
            throw new IOException(setting + " is '" + conf.get(setting) + "'; expected a size such as 64m", e);
        }
        throw new IOException(setting + " is '" + conf.get(setting) + "'; expected 0 or more");
    }

    /** Returns the settings that are not Hadoop's own defaults. */
    private static Map<String, String> given(Configuration conf) {
        Map<String, String> given = new TreeMap<>();
        for (Map.Entry<String, String> entry : conf) {
            String[] sources = conf.getPropertySources(entry.getKey());
            boolean isDefault =
                    sources != null && sources.length > 0 && sources[sources.length - 1].endsWith("-default.xml");
            if (!isDefault) {
                given.put(entry.getKey(), conf.get(entry.getKey()));
            }
        }
        return given;
    }
}
