package dev.stoker.ingest.rows.options;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.PathPattern;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.DirectoryLister;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.SourceNotes;
import dev.stoker.ingest.rows.source.SplitNames;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.SourceLocation;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Lists the files of the sources: a file, a directory with everything below it, or a pattern with {@code *}, {@code ?},
 * {@code [...]} and {@code {a,b}}, where {@code **} matches several directories. Notes of other systems in a directory
 * are not taken: names that begin with {@code _}, such as {@code _SUCCESS}, the descriptions and caches that Hugging
 * Face and MosaicML write beside their data, and texts such as {@code README.md}.
 */
public final class RowSources {
    private static final Set<String> NOTES =
            Set.of("index.json", "state.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json");

    /** Texts about the data, as repositories of datasets have them. */
    private static final Pattern DOCUMENT = Pattern.compile(
            "(README|LICEN[SC]E|NOTICE|CITATION|CHANGELOG)(\\.(md|txt|rst|cff))?", Pattern.CASE_INSENSITIVE);

    private static final Pattern CACHE = Pattern.compile("cache-.*\\.arrow");

    private RowSources() {}

    /**
     * Returns the files of all sources, each source's in the order of their paths. Paths are relative to the directory
     * that contains all of them, so that no two are equal.
     */
    public static List<SourceFile> list(List<String> sources, RowIngestOptions.Tree rules, long most)
            throws IOException {
        return list(sources, rules, most, new ArrayList<>());
    }

    /**
     * Does the same.
     *
     * @param warnings gets a line for each directory with files that its description does not name, and for each reason
     *     why files were left out
     */
    public static List<SourceFile> list(
            List<String> sources, RowIngestOptions.Tree rules, long most, List<String> warnings) throws IOException {
        List<SourceFile> files = new ArrayList<>();
        for (String source : sources) {
            int before = files.size();
            files.addAll(list(source, rules, most - before, warnings));
            if (files.size() == before) {
                throw SourceLocation.of(source).withoutFiles();
            }
        }
        return SplitNames.apply(sources.size() == 1 ? files : underOneRoot(files));
    }

    private static List<SourceFile> underOneRoot(List<SourceFile> files) {
        String root = files.get(0).root() + "/";
        for (SourceFile file : files) {
            while (!file.location().startsWith(root)) {
                int slash = root.lastIndexOf('/', root.length() - 2);
                if (slash < 0 || root.endsWith("://")) {
                    throw new InvalidIngestException("the sources are on different file systems: "
                            + files.get(0).location() + " and " + file.location() + "; ingest them apart");
                }
                root = root.substring(0, slash + 1);
            }
        }
        Map<String, SourceFile> moved = new LinkedHashMap<>();
        for (SourceFile file : files) {
            String path = file.location().substring(root.length());
            moved.putIfAbsent(path, file.under(root.length() > 1 ? root.substring(0, root.length() - 1) : root, path));
        }
        return List.copyOf(moved.values());
    }

    private static List<SourceFile> list(String source, RowIngestOptions.Tree rules, long most, List<String> warnings)
            throws IOException {
        if (isFile(source)) {
            return List.of(file(source));
        }
        SourceLocation place = SourceLocation.of(source);
        SourceNotes notes = new SourceNotes(warnings);
        SkipCounts skipped = new SkipCounts();
        List<SourceFile> files = new ArrayList<>();
        new Listing(tree(place, rules), place.pattern(), notes, skipped, file -> {
                    if (files.size() < most) {
                        files.add(file);
                    }
                })
                .list(() -> files.size() < most);
        warnings.addAll(skipped.lines());
        // A pattern names its files, so descriptions do not apply.
        return place.pattern().isPresent() ? files : notes.apply(files);
    }

    private static FileTree tree(SourceLocation place, RowIngestOptions.Tree rules) {
        return new FileTree(
                place.root(),
                rules.hidden(),
                rules.links(),
                FileTree.Empty.SKIP,
                rules.errors(),
                List.of(),
                rules.names(),
                true);
    }

    /**
     * Visits the files of a source that can have rows, without those that descriptions leave out.
     *
     * @param goesOn whether more files are wanted
     */
    public static void visit(
            String source, RowIngestOptions.Tree rules, Consumer<SourceFile> visitor, BooleanSupplier goesOn)
            throws IOException {
        if (isFile(source)) {
            visitor.accept(file(source));
            return;
        }
        SourceLocation place = SourceLocation.of(source);
        SourceNotes notes = new SourceNotes(new ArrayList<>());
        new Listing(tree(place, rules), place.pattern(), notes, new SkipCounts(), visitor).list(goesOn);
    }

    /** Returns the file at a location. */
    public static SourceFile file(String location) throws IOException {
        int slash = location.lastIndexOf('/');
        String root = location.substring(0, Math.max(1, slash));
        String name = location.substring(slash + 1);
        return new SourceFile(root, name, length(root, name));
    }

    /**
     * Returns the canonical form of a source, as {@link Stores#normalize} does. The characters of a pattern need no
     * escape in a URI.
     *
     * @throws IllegalArgumentException if it is neither a path nor a URI
     */
    public static String normalize(String source) {
        if (!isRemotePattern(source)) {
            return Stores.normalize(source);
        }
        int end = source.lastIndexOf('/', PathPattern.firstWild(source));
        return Stores.normalize(source.substring(0, end)) + source.substring(end);
    }

    private static boolean isRemotePattern(String source) {
        return Stores.isRemote(source) && PathPattern.firstWild(source) < source.length();
    }

    private static boolean isFile(String source) throws IOException {
        if (!Stores.isRemote(source)) {
            return Files.isRegularFile(Path.of(source));
        }
        if (isRemotePattern(source)) {
            return false;
        }
        int slash = source.lastIndexOf('/');
        try (SourceTree tree = Stores.openTree(source.substring(0, slash))) {
            return tree.find(source.substring(slash + 1))
                    .filter(entry -> entry.kind() == SourceTree.Kind.FILE)
                    .isPresent();
        }
    }

    private static long length(String root, String name) throws IOException {
        if (!Stores.isRemote(root)) {
            return Files.size(Path.of(root).resolve(name));
        }
        try (SourceTree tree = Stores.openTree(root)) {
            return tree.find(name).orElseThrow().length();
        }
    }

    /** Lists one tree, depth first and in the order of names. */
    private static final class Listing implements DirectoryLister.Visitor {
        private final FileTree tree;
        private final Optional<PathPattern> pattern;
        private final SourceNotes notes;
        private final SkipCounts skipped;
        private final Consumer<SourceFile> files;
        private final List<DirectorySplit> found = new ArrayList<>();
        private DirectorySplit directory = DirectorySplit.ROOT;

        Listing(
                FileTree tree,
                Optional<PathPattern> pattern,
                SourceNotes notes,
                SkipCounts skipped,
                Consumer<SourceFile> files) {
            this.tree = tree;
            this.pattern = pattern;
            this.notes = notes;
            this.skipped = skipped;
            this.files = files;
        }

        void list(BooleanSupplier goesOn) throws IOException {
            Deque<DirectorySplit> pending = new ArrayDeque<>(List.of(DirectorySplit.ROOT));
            try (DirectoryLister lister = DirectoryLister.open(tree)) {
                while (!pending.isEmpty() && goesOn.getAsBoolean()) {
                    directory = pending.pop();
                    found.clear();
                    lister.list(directory, this);
                    for (int i = found.size() - 1; i >= 0; i--) {
                        pending.push(found.get(i));
                    }
                }
            }
        }

        @Override
        public void file(String name, long size, long modifiedMs, long[] sidecars) {
            String path = directory.child(name);
            notes.add(new SourceFile(tree.root(), path, size));
            // A pattern says which files are wanted.
            if (pattern.isEmpty() && DOCUMENT.matcher(name).matches()) {
                notes.addDocument(path);
            } else if (!isNote(name) && isWanted(path)) {
                files.accept(new SourceFile(tree.root(), path, size));
            }
        }

        private boolean isWanted(String path) {
            return pattern.map(p -> p.matches(path)).orElse(true);
        }

        private static boolean isNote(String name) {
            return name.startsWith("_")
                    || NOTES.contains(name)
                    || CACHE.matcher(name).matches();
        }

        @Override
        public void directory(DirectorySplit child) {
            String path = child.path();
            if (!path.substring(path.lastIndexOf('/') + 1).startsWith("_")) {
                found.add(child);
            }
        }

        @Override
        public void skip(FileSkip reason, String path) {
            // A directory that cannot be listed may contain files that are wanted.
            boolean isCounted = reason == FileSkip.UNREADABLE || isWanted(path);
            if (isCounted && !isNote(path.substring(path.lastIndexOf('/') + 1))) {
                skipped.add(reason, path);
            }
        }
    }
}
