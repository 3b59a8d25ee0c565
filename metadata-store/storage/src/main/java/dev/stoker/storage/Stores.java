package dev.stoker.storage;

import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Opens stores at locations as users type them: a path of this machine ({@code ./photos}, {@code file:///data/photos})
 * or the URI of another file system ({@code hdfs://namenode/data/photos}, {@code s3a://bucket/photos},
 * {@code gs://bucket/photos}, {@code az://container/photos}).
 */
public final class Stores {

    /** A scheme has at least two letters, so a Windows drive is not a scheme. */
    private static final Pattern URI_WITH_SCHEME = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");

    private static final Pattern URI_PARTS =
            Pattern.compile("(?<scheme>[^:]+):(?<authority>(?://[^/?#]*)?)(?<path>[^?#]*)(?<rest>.*)", Pattern.DOTALL);

    private Stores() {}

    /** Returns whether the location is on a file system that is not mounted on this machine. */
    public static boolean isRemote(String location) {
        return URI_WITH_SCHEME.matcher(location).matches() && !isFile(location);
    }

    private static boolean isFile(String location) {
        return location.toLowerCase(Locale.ROOT).startsWith("file:");
    }

    /**
     * Returns the canonical form of a location: an absolute, normalized path, or a URI without a slash at its end.
     *
     * @throws IllegalArgumentException if it is neither a path nor a URI
     */
    public static String normalize(String location) {
        if (isRemote(location)) {
            URI uri = uri(location).normalize();
            String text = uri.toString();
            return text.endsWith("/") && uri.getRawAuthority() != null ? text.substring(0, text.length() - 1) : text;
        }
        return local(location).toString();
    }

    private static URI uri(String location) {
        Matcher parts = URI_PARTS.matcher(location);
        if (!parts.matches()) {
            throw new IllegalArgumentException(location + " is not a URI");
        }
        String scheme = parts.group("scheme").toLowerCase(Locale.ROOT);
        String authority = parts.group("authority");
        String path = parts.group("path");
        int at = authority.lastIndexOf('@');
        // Messages must not contain what may be secret.
        if (authority.lastIndexOf(':', at) >= 0) {
            throw new IllegalArgumentException(scheme + "://…" + authority.substring(at) + path
                    + ": a location must not contain a password; set credentials in the environment (see"
                    + " docs/stores.md)");
        }
        if (!parts.group("rest").isEmpty()) {
            throw new IllegalArgumentException(scheme + ":" + authority + path
                    + ": a location must not contain a query or a fragment; write ? as %3F and # as %23");
        }
        // AWS's own tools use s3 for the scheme that Hadoop calls s3a. Azure's two schemes differ only in encryption.
        String known = scheme.equals("s3") ? "s3a" : scheme.equals("abfs") ? "abfss" : scheme;
        URI uri;
        try {
            uri = new URI(known + ":" + authority + path);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(location + " is not a URI: "
                    + e.getReason().toLowerCase(Locale.ROOT) + " at " + e.getIndex() + "; write a space as %20");
        }
        if (List.of(uri.getPath().split("/")).contains("..")) {
            throw new IllegalArgumentException(location + ": the location of a store must not contain ..");
        }
        return uri;
    }

    /**
     * Returns the path of a location on this machine.
     *
     * @throws IllegalArgumentException if it is on another file system
     */
    public static Path local(String location) {
        if (isRemote(location)) {
            throw new IllegalArgumentException(location + " is not a path of this machine");
        }
        if (location.isEmpty()) {
            throw new IllegalArgumentException("a path is empty; the current directory is .");
        }
        Path path = isFile(location) ? Path.of(URI.create(location)) : Path.of(location);
        return path.toAbsolutePath().normalize();
    }

    /**
     * Returns the last part of a location, which users take as the dataset's name: the name of a directory, bucket or
     * host; empty if there is none.
     *
     * @throws IllegalArgumentException if it is neither a path nor a URI
     */
    public static Optional<String> name(String location) {
        if (location.isEmpty()) {
            return Optional.empty();
        }
        String normal = normalize(location);
        String end = normal.substring(normal.lastIndexOf('/') + 1);
        // A container of Azure has its account behind it.
        boolean isContainer = normal.equals("abfss://" + end) && end.contains("@");
        String last = isContainer ? end.substring(0, end.indexOf('@')) : end;
        return last.isEmpty() ? Optional.empty() : Optional.of(last);
    }

    /**
     * Opens the store at a location. The caller closes it. The location need not exist, and the call sends no request
     * to a remote store.
     *
     * @throws UnsupportedStoreException if the kind of file system is unknown, or Hadoop is missing
     */
    public static ObjectStore open(String location) throws IOException {
        return open(location, Map.of());
    }

    /**
     * As {@link #open(String)}, with settings of Hadoop that take precedence over those in its files. A store on this
     * machine ignores them.
     *
     * @param settings values by the names of Hadoop's settings
     */
    public static ObjectStore open(String location, Map<String, String> settings) throws IOException {
        if (isRemote(location)) {
            return RemoteStores.open(normalize(location), settings);
        }
        return new LocalObjectStore(local(location));
    }

    /**
     * Opens a tree of samples on another file system. The caller closes it.
     *
     * @throws IOException if the location's file system cannot be reached or is not supported
     */
    public static SourceTree openTree(String location) throws IOException {
        return RemoteStores.openTree(normalize(location));
    }

    /**
     * Checks that a remote store refuses to create an existing object, on which every commit depends. Creates an object
     * twice and deletes it. Does nothing for a store on this machine.
     *
     * @throws UnsupportedStoreException if the store creates it twice, or cannot create objects atomically
     */
    public static void requireAtomicCreate(ObjectStore store) throws IOException {
        if (store instanceof LocalObjectStore) {
            return;
        }
        String name = "_stoker/probes/" + UUID.randomUUID();
        byte[] first = "first".getBytes(StandardCharsets.UTF_8);
        byte[] second = "second".getBytes(StandardCharsets.UTF_8);
        if (!store.createIfAbsent(name, first)) {
            throw new UnsupportedStoreException(store.describe(name)
                    + " is reported to exist, although its name is new; the store cannot hold a dataset");
        }
        boolean twice = store.createIfAbsent(name, second) || !Arrays.equals(store.readAll(name, 100), first);
        store.delete(name);
        if (twice) {
            throw new UnsupportedStoreException("The store created " + store.describe(name)
                    + " twice, the second over the first: it does not support conditional creation (If-None-Match,"
                    + " x-goog-if-generation-match), without which two writers overwrite each other's versions;"
                    + " put the dataset on another store, or upgrade the server");
        }
    }

    /**
     * Releases the resources that remote stores keep in the process after they are closed. These would keep their
     * classes and this class loaded. Call this when all stores are closed and the class loader of this class is
     * discarded before the process ends. Stores can still be opened later.
     */
    public static void release() {
        RemoteStores.release();
    }
}
