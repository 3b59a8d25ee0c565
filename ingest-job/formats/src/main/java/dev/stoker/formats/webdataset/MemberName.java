package dev.stoker.formats.webdataset;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The name of a member, divided as WebDataset does: at the first dot of the last part of the path.
 *
 * @param key the name before the dot, with directories
 * @param extension the name after it, in lower case
 */
record MemberName(String key, String extension) {
    /** Returns the parts, or null if there is nothing before the dot or no dot. */
    static @Nullable MemberName of(String name) {
        int last = name.lastIndexOf('/') + 1;
        int dot = name.indexOf('.', last);
        return dot <= last
                ? null
                : new MemberName(name.substring(0, dot), name.substring(dot + 1).toLowerCase(Locale.ROOT));
    }

    /**
     * Returns whether a member is no data: it is hidden as in a tree of files, such as {@code ._a.jpg} or
     * {@code .git/a}, or metadata.
     */
    static boolean isLeftOut(String name) {
        return isHidden(name) || isMetadata(name);
    }

    private static boolean isHidden(String name) {
        for (String part : name.split("/", -1)) {
            if (part.startsWith(".") && !part.equals(".") && !part.equals("..")) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether WebDataset leaves out a member as metadata: a first part such as {@code __info__}. */
    static boolean isMetadata(String name) {
        int end = name.indexOf('/');
        String first = end < 0 ? name : name.substring(0, end);
        return first.length() >= 4 && first.startsWith("__") && first.endsWith("__");
    }
}
