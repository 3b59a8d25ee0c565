package dev.stoker.formats.partition;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.UnsupportedFileException;
import dev.stoker.formats.filter.LiteralComparison;
import dev.stoker.schemas.condition.Literal;
import dev.stoker.schemas.text.ShellText;
import java.io.IOException;

/** Compares the values of a file's own column with the value that the file's place gives. For one thread. */
final class GivenCheck {
    private final GivenColumn given;
    private final LiteralComparison comparison;
    private final LiteralComparison.Result expected;

    /** @param file its name, for messages */
    GivenCheck(GivenColumn given, RowColumn own, String file) throws UnsupportedFileException {
        this.given = given;
        this.expected = given.text() == null ? LiteralComparison.Result.NULL : LiteralComparison.Result.EQUAL;
        try {
            this.comparison = new LiteralComparison(given.text() == null ? null : Literal.of(own.type(), given.text()));
        } catch (IllegalArgumentException e) {
            throw new UnsupportedFileException(file + " has the column " + own.name() + " of type "
                    + own.type().canonical() + ", which cannot have the value of its directory " + given.shown()
                    + "; rename the directory or the column");
        }
    }

    /** Throws if the value of the row is another one. */
    void require(RowReader rows, int column) throws IOException, BadValueException {
        rows.get(column, comparison);
        if (comparison.result() != expected) {
            throw new BadValueException(
                    "the value in the file differs from the value of its directory " + given.shown(),
                    "correct one of them, or leave the column out with --without " + ShellText.word(given.name()));
        }
    }
}
