package dev.stoker.ingest.spec;

import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Checks source and target: the source must contain samples, and neither may contain the other. Changes nothing.
 *
 * @param problems receives one sentence for each problem
 */
public record LocationChecks(Consumer<String> problems) {

    private static final Pattern WEB = Pattern.compile("https?:.*", Pattern.CASE_INSENSITIVE);

    private static final String DATASET = "_stoker/dataset.json";

    private static final String IS_FILE =
            " is a file of unknown format; name the format with --format FORMAT, or give the directory that holds the"
                    + " file";

    private static final String IS_JSON = " is no file of JSON lines, in which each line is an object; make lines of a"
            + " JSON array with jq -c '.[]', or give the directory that holds the file";

    /** Refuses a source that is a dataset. */
    public void requireNoDataset(String source, String target) {
        try {
            if (!WEB.matcher(source).matches() && isDataset(source)) {
                problems.accept("the source " + source + " is a dataset of Stoker; copy it with: stoker copy "
                        + ShellText.word(source) + " " + ShellText.word(target)
                        + ", or export its samples with: stoker export");
            }
        } catch (IOException | IllegalArgumentException e) {
            // The ingest reports a source that cannot be read.
            return;
        }
    }

    private static boolean isDataset(String source) throws IOException {
        if (!Stores.isRemote(source)) {
            return Files.isRegularFile(Stores.local(source).resolve(DATASET));
        }
        try (SourceTree tree = Stores.openTree(source)) {
            return tree.find(DATASET)
                    .filter(entry -> entry.kind() == SourceTree.Kind.FILE)
                    .isPresent();
        }
    }

    /** Checks two normalized locations. */
    public void check(String source, String target) {
        requireNoDataset(source, target);
        if (!Stores.isRemote(source) && !Stores.isRemote(target)) {
            checkLocal(Stores.local(source), Stores.local(target));
            return;
        }
        String qualified = Stores.isRemote(source) ? checkRemoteSource(source) : source;
        if (Stores.isRemote(source) && Stores.isRemote(target)) {
            checkApart(qualified, target);
        } else if (!Stores.isRemote(source)) {
            checkLocalSource(Stores.local(source));
        } else {
            checkTarget(Stores.local(target));
        }
    }

    private void checkTarget(Path target) {
        if (Files.exists(target) && !Files.isDirectory(target)) {
            problems.accept("the target " + target + " is a file; give a directory that does not exist yet");
        }
        for (Path parent = target.getParent(); parent != null; parent = parent.getParent()) {
            if (Files.exists(parent) && !Files.isDirectory(parent)) {
                problems.accept("the target " + target + " is below the file " + parent + "; give another directory");
            }
        }
    }

    /** Returns the location in the spelling of its file system. */
    private String checkRemoteSource(String source) {
        if (WEB.matcher(source).matches()) {
            problems.accept(
                    "the source " + source + " is a web address, and web servers do not list their files; download"
                            + " the files first, or name a directory, hdfs://, s3a://, gs:// or az://");
            return source;
        }
        try (SourceTree tree = Stores.openTree(source)) {
            Optional<SourceTree.Entry> root = tree.find("");
            if (root.isEmpty()) {
                problems.accept("the source " + source + " does not exist; give the directory that holds the samples");
            } else if (root.get().kind() != SourceTree.Kind.DIRECTORY) {
                problems.accept(aboutFile(source));
            }
            return tree.location();
        } catch (IOException e) {
            problems.accept("cannot access the source " + source + ": " + reason(e));
            return source;
        }
    }

    private static String aboutFile(String source) {
        return "the source " + source + (source.toLowerCase(Locale.ROOT).endsWith(".json") ? IS_JSON : IS_FILE);
    }

    private void checkApart(String source, String target) {
        String qualified = qualified(target);
        if (source.equals(qualified)) {
            problems.accept("the target is the source " + source + "; give a directory outside it");
        } else if (isInside(qualified, source)) {
            problems.accept(
                    "the target " + target + " is inside the source " + source + "; give a directory outside it");
        } else if (isInside(source, qualified)) {
            problems.accept("the source " + source + " is inside the target " + target
                    + "; give a directory that does not contain the samples");
        }
    }

    /** The location in the spelling of its file system: {@code hdfs:///photos} is on the default name node. */
    private String qualified(String target) {
        try (ObjectStore store = Stores.open(target)) {
            return store.toString();
        } catch (IOException e) {
            problems.accept("cannot access the target " + target + ": " + reason(e));
            return target;
        }
    }

    private static boolean isInside(String location, String ancestor) {
        return location.startsWith(ancestor + "/");
    }

    private static String reason(IOException e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    private void checkLocal(Path source, Path target) {
        if (!checkLocalSource(source)) {
            return;
        }
        checkTarget(target);
        try {
            Path realSource = source.toRealPath();
            Path realTarget = realPathOf(target);
            if (realTarget.equals(realSource)) {
                problems.accept("the target is the source " + source + "; give a directory outside it");
            } else if (realTarget.startsWith(realSource)) {
                problems.accept(
                        "the target " + target + " is inside the source " + source + "; give a directory outside it");
            } else if (realSource.startsWith(realTarget)) {
                problems.accept("the source " + source + " is inside the target " + target
                        + "; give a directory that does not contain the samples");
            }
        } catch (IOException e) {
            problems.accept(
                    "cannot access " + source + " and " + target + ": " + e.getMessage() + "; make both readable");
        }
    }

    /** The real path of a file that may not exist yet: the real path of its nearest existing ancestor, and the rest. */
    private static Path realPathOf(Path path) throws IOException {
        for (Path ancestor = path; ancestor != null; ancestor = ancestor.getParent()) {
            if (Files.exists(ancestor)) {
                return ancestor.toRealPath().resolve(ancestor.relativize(path)).normalize();
            }
        }
        return path;
    }

    private static boolean isEmptyFile(Path file) {
        try {
            return Files.isRegularFile(file) && Files.size(file) == 0;
        } catch (IOException e) {
            // The message about a file of unknown format names it, too.
            return false;
        }
    }

    private boolean checkLocalSource(Path source) {
        if (!Files.exists(source)) {
            problems.accept("the source " + source + " does not exist; give the directory that holds the samples");
            return false;
        }
        if (!Files.isDirectory(source)) {
            problems.accept(
                    isEmptyFile(source)
                            ? "the source " + source + " is an empty file; give a file with rows, or a directory"
                            : aboutFile(source.toString()));
            return false;
        }
        if (!Files.isReadable(source)) {
            problems.accept("cannot access " + source + ": permission denied; make it readable");
        }
        return true;
    }
}
