package dev.stoker.ingest.rows.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.listing.UnreadableException;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.ingest.rows.source.Unreadable;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * Decides about rows and files that cannot be samples: fails the ingest, or counts and lists them. Lists are emitted as
 * JSON lines in batches. For one thread.
 */
public final class LeftOut {
    private static final int BATCH_CHARS = 32 << 10;

    private final FileTree.Errors errors;
    private final SkipCounts counts;
    private final Consumer<String> output;
    private final StringBuilder lines = new StringBuilder();

    /**
     * @param counts is increased
     * @param output takes JSON lines
     */
    public LeftOut(FileTree.Errors errors, SkipCounts counts, Consumer<String> output) {
        this.errors = errors;
        this.counts = counts;
        this.output = output;
    }

    /** Handles a row of a file. */
    public void row(SourceFile file, long position, BadValueException why) throws UnreadableException {
        String place = file.path() + "#" + position;
        requireSkip(place, why);
        counts.add(FileSkip.BAD_ROW, place);
        add(Json.object().put("file", file.location()).put("position", position), ErrorText.of(why));
    }

    /** Handles a row whose file is not known any more. */
    public void row(String key, BadValueException why) throws UnreadableException {
        requireSkip(key, why);
        counts.add(FileSkip.BAD_ROW, key);
        add(Json.object().put("key", key), ErrorText.of(why));
    }

    private void requireSkip(String place, BadValueException why) throws UnreadableException {
        if (errors == FileTree.Errors.FAIL) {
            throw new UnreadableException("the row " + place + " cannot be a sample: " + ErrorText.of(why)
                    + "; correct it, or leave such rows out with --on-error skip");
        }
    }

    private void requireSkip(IOException why) throws UnreadableException {
        if (errors == FileTree.Errors.FAIL) {
            throw new UnreadableException(
                    ErrorText.of(why) + "; --on-error skip leaves out what cannot be read, and lists it");
        }
    }

    /** Handles a row that is damaged, while those behind it can be read. */
    void damagedRow(SourceFile file, long position, IOException why) throws UnreadableException {
        requireSkip(why);
        counts.add(FileSkip.DAMAGED, file.path() + "#" + position);
        add(Json.object().put("file", file.location()).put("position", position), ErrorText.of(why));
    }

    /** Handles a part of a file, or its rest. */
    public void part(RowRun.Piece piece, IOException why) throws UnreadableException {
        requireSkip(why);
        counts.add(FileSkip.DAMAGED, piece.file().path());
        add(Json.object().put("file", piece.file().location()).put("part", piece.number()), ErrorText.of(why));
    }

    /** Lists a file that could not be opened when the ingest was planned. */
    public void file(Unreadable file) {
        counts.add(FileSkip.UNREADABLE, file.path());
        add(Json.object().put("file", file.location()), file.reason());
    }

    private void add(ObjectNode line, String reason) {
        try {
            lines.append(Json.PLAIN.writeValueAsString(line.put("reason", reason)))
                    .append('\n');
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an object of texts and numbers can be written", e);
        }
        if (lines.length() >= BATCH_CHARS) {
            flush();
        }
    }

    /** Formats a line of the list of skipped rows as text: the place and the reason. */
    public static String shown(String line) {
        try {
            JsonNode item = Json.PLAIN.readTree(line);
            String place = item.has("key")
                    ? item.get("key").textValue()
                    : item.get("file").textValue();
            String inside = item.has("position")
                    ? "#" + item.get("position").asText()
                    : item.has("part") ? ", part " + item.get("part").asText() : "";
            String reason = item.get("reason").textValue();
            return place + inside + ": "
                    + (reason.startsWith(place + ": ") ? reason.substring(place.length() + 2) : reason);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a line is JSON", e);
        }
    }

    /** Emits the lines that are left. */
    public void flush() {
        if (!lines.isEmpty()) {
            output.accept(lines.toString());
            lines.setLength(0);
        }
    }
}
