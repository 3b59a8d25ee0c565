package dev.stoker.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.stoker.ingest.spec.KeyFile;
import dev.stoker.schemas.json.Json;

/**
 * Keys in lines of text. A key that would not be one visible line is a JSON string, as is a key that begins with a
 * quotation mark. A {@link KeyFile} of lines is read in the same way.
 */
public final class KeyText {

    private KeyText() {}

    /** Returns what to say after a key that was not found, if its end explains that. */
    public static String endNote(String key) {
        return key.endsWith(KeyFile.RETURN) ? " (the key ends with a carriage return)" : "";
    }

    /** Returns a key as one line. */
    public static String line(String key) {
        boolean isPlain = !key.startsWith("\"")
                && key.equals(key.strip())
                && key.codePoints().noneMatch(KeyText::isInvisible);
        if (isPlain) {
            return key;
        }
        try {
            // The escapes of JSON do not include all characters that terminals interpret.
            return SafeOutput.escape(Json.PLAIN.writeValueAsString(key));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("the key is not Unicode text: " + e.getOriginalMessage(), e);
        }
    }

    /** Returns whether a terminal interprets a character, or shows nothing for it. */
    public static boolean isInvisible(int c) {
        return Character.isISOControl(c)
                || Character.getType(c) == Character.FORMAT
                || Character.getType(c) == Character.LINE_SEPARATOR
                || Character.getType(c) == Character.PARAGRAPH_SEPARATOR;
    }
}
