package dev.stoker.ingest;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Looks at source and target: there must be samples in the one, and neither may contain the other. Changes nothing.
 *
 * @param problems takes one sentence for each thing that is wrong
 */
record LocationChecks(Consumer<String> problems) {

    private static final Pattern WEB = Pattern.compile("https?:.*", Pattern.CASE_INSENSITIVE);

    /** Checks two normalized locations. */
    void check(String source, String target) {
        if (!Stores.isRemote(source) && !Stores.isRemote(target)) {
            checkLocal(Stores.local(source), Stores.local(target));
            return;
        }
        String qualified = Stores.isRemote(source) ? checkRemoteSource(source) : source;
        if (Stores.isRemote(source) && Stores.isRemote(target)) {
            checkApart(qualified, target);
        } else if (!Stores.isRemote(source)) {
            checkLocalSource(Stores.local(source));
        } else if (Files.exists(Stores.local(target)) && !Files.isDirectory(Stores.local(target))) {
            problems.accept("the target " + target + " is a file; give a directory that does not exist yet");
        }
    }

    /** Returns the location as its file system spells it. */
    private String checkRemoteSource(String source) {
        if (WEB.matcher(source).matches()) {
            problems.accept(
                    "the source " + source + " is a web address, and web servers do not list their files; download"
                            + " the files first, or name a directory, hdfs:// or s3a://");
            return source;
        }
        try (SourceTree tree = Stores.openTree(source)) {
            Optional<SourceTree.Entry> root = tree.find("");
            if (root.isEmpty()) {
                problems.accept("the source " + source + " does not exist; give the directory that holds the samples");
            } else if (root.get().kind() != SourceTree.Kind.DIRECTORY) {
                problems.accept("the source " + source + " is a file; give the directory that holds it");
            }
            return tree.location();
        } catch (IOException e) {
            problems.accept("cannot look at the source " + source + ": " + reason(e));
            return source;
        }
    }

    private void checkApart(String source, String target) {
        String qualified = qualified(target);
        if (source.equals(qualified)) {
            problems.accept("the target is the source " + source + "; give a directory outside it");
        } else if (isInside(qualified, source)) {
            problems.accept(
                    "the target " + target + " lies inside the source " + source + "; give a directory outside it");
        } else if (isInside(source, qualified)) {
            problems.accept("the source " + source + " lies inside the target " + target
                    + "; give a directory that does not contain the samples");
        }
    }

    /** The location as its file system spells it: {@code hdfs:///photos} is that of the default name node. */
    private String qualified(String target) {
        try (ObjectStore store = Stores.open(target)) {
            return store.toString();
        } catch (IOException e) {
            problems.accept("cannot look at the target " + target + ": " + reason(e));
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
        if (Files.exists(target) && !Files.isDirectory(target)) {
            problems.accept("the target " + target + " is a file; give a directory that does not exist yet");
        }
        try {
            Path realSource = source.toRealPath();
            Path realTarget = realPathOf(target);
            if (realTarget.equals(realSource)) {
                problems.accept("the target is the source " + source + "; give a directory outside it");
            } else if (realTarget.startsWith(realSource)) {
                problems.accept(
                        "the target " + target + " lies inside the source " + source + "; give a directory outside it");
            } else if (realSource.startsWith(realTarget)) {
                problems.accept("the source " + source + " lies inside the target " + target
                        + "; give a directory that does not contain the samples");
            }
        } catch (IOException e) {
            problems.accept(
                    "cannot look at " + source + " and " + target + ": " + e.getMessage() + "; make both readable");
        }
    }

    /** The real path of what may not exist yet: that of its nearest existing ancestor, and the rest. */
    private static Path realPathOf(Path path) throws IOException {
        for (Path ancestor = path; ancestor != null; ancestor = ancestor.getParent()) {
            if (Files.exists(ancestor)) {
                return ancestor.toRealPath().resolve(ancestor.relativize(path)).normalize();
            }
        }
        return path;
    }

    private boolean checkLocalSource(Path source) {
        if (!Files.exists(source)) {
            problems.accept("the source " + source + " does not exist; give the directory that holds the samples");
            return false;
        }
        if (!Files.isDirectory(source)) {
            problems.accept("the source " + source + " is a file; give the directory that holds it");
            return false;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(source)) {
            if (!entries.iterator().hasNext()) {
                problems.accept("the source " + source + " is empty; give the directory that holds the samples");
            }
        } catch (IOException e) {
            problems.accept("cannot look at " + source + ": " + reason(e) + "; make it readable");
        }
        return true;
    }
}
