package dev.stoker.cli;

import dev.stoker.schemas.text.VisibleText;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** Writes messages. Whole lines may have names and values of data, so control characters in them become escapes. */
final class MessageWriter extends PrintWriter {
    MessageWriter(PrintStream stream) {
        super(stream, true, StandardCharsets.UTF_8);
    }

    @Override
    public void println(String line) {
        super.println(VisibleText.of(String.valueOf(line)));
    }
}
