package dev.stoker.cli.browse;

import dev.stoker.schemas.errors.ErrorText;
import java.nio.file.NoSuchFileException;

/** The text of failures on the page. */
public final class BrowseProblems {

    private BrowseProblems() {}

    public static String text(Throwable failure) {
        return failure instanceof NoSuchFileException
                ? "there is no file " + failure.getMessage()
                : ErrorText.of(failure);
    }
}
