package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ProtectedVersions;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names the tags and running feeds that protect versions from being expired. */
final class Protections {

    private static final Pattern FEED = Pattern.compile("\\bfeed (\\S+)");

    private Protections() {}

    /** Returns a line for each protected version, with the next step. The caller reads the log before. */
    static List<String> of(Dataset dataset, Set<Long> versions) throws IOException {
        List<String> lines = new ArrayList<>();
        ProtectedVersions.read(dataset).forEach((version, reason) -> {
            if (versions.contains(version)) {
                lines.add("version " + version + " has the samples and is protected by " + reason + "; "
                        + nextStep(dataset.where(), reason));
            }
        });
        return lines;
    }

    private static String nextStep(String where, String reason) {
        if (reason.startsWith("tag ")) {
            String tag = reason.substring("tag ".length());
            return "delete the tag with: stoker tag " + ShellText.word(where) + " " + tag
                    + " --delete, or move it with --move";
        }
        Matcher feed = FEED.matcher(reason);
        return "stop the feed, or if it has died: stoker expire " + ShellText.word(where) + " --end-feed "
                + (feed.find() ? feed.group(1) : "ID") + " --yes";
    }
}
