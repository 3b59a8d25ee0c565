package dev.stoker.ingest;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.spec.SidecarType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.text.ShellText;
import java.util.Collection;

/** The options that help if a source does not fit the command or the dataset. */
final class NextSteps {
    private NextSteps() {}

    /** Returns clauses with the options that include the skipped files, to append to a message. */
    static String skipped(SkipCounts skipped) {
        StringBuilder steps = new StringBuilder();
        for (FileSkip reason : skipped.byReason().keySet()) {
            switch (reason) {
                case HIDDEN -> steps.append(", or take hidden files with --hidden include");
                case EMPTY -> steps.append(", or take empty files with --empty include");
                case LINK -> steps.append(", or follow links with --links follow");
                case NOT_WANTED -> steps.append(", or correct the patterns and keys");
                default -> {
                    // No option includes these files.
                }
            }
        }
        return steps.toString();
    }

    /**
     * Returns the next step for files whose bytes have no field.
     *
     * @param taken fields that get other values
     */
    static String content(DatasetInfo info, Collection<String> taken) {
        return info.fields().stream()
                .filter(field -> SidecarType.isBytes(field.type().canonical()) && !taken.contains(field.name()))
                .findFirst()
                .map(field -> "name the field that takes them with --field " + ShellText.word(field.name()))
                .orElse("none of them takes bytes; ingest the files into another dataset");
    }

    /** Returns the next step for a field that needs a value. */
    static String value(Field field) {
        return "give it with "
                + (field.type() == ScalarType.CATEGORICAL
                        ? "--label-from parent-dir --label-field " + ShellText.word(field.name())
                        : ShellText.pair(
                                "--sidecar",
                                ".ENDING",
                                field.name() + ":" + field.type().canonical()));
    }
}
