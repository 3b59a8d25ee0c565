package dev.stoker.cli.samples;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The field that is the content of a sample, for verbs that print or write bytes. Stateless. */
public final class ContentField {

    private ContentField() {}

    /**
     * Returns the field with a name, or else the only payload field, or else the only field of bytes or text.
     *
     * @param name null for the usual field
     * @param others the option that prints all other fields, for messages
     */
    public static int choose(List<Field> fields, @Nullable String name, String others) throws CommandException {
        List<String> payload = names(fields, Field::payload);
        List<String> known = names(fields, ContentField::hasBytes);
        List<String> usual = payload.isEmpty() ? known : payload;
        if (known.isEmpty()) {
            throw new CommandException("the dataset has no field of bytes or text; use " + others);
        }
        if (name == null && usual.size() > 1) {
            throw new CommandException(
                    "choose one of the fields " + String.join(", ", usual) + " with --field, or use " + others);
        }
        String wanted = name == null ? usual.get(0) : name;
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(wanted) && hasBytes(fields.get(f))) {
                return f;
            }
        }
        throw new CommandException("there is no field " + wanted + " of bytes or text; there is "
                + String.join(", ", known) + "; use " + others + " for other fields");
    }

    private static List<String> names(List<Field> fields, Predicate<Field> which) {
        return fields.stream().filter(which).map(Field::name).toList();
    }

    private static boolean hasBytes(Field field) {
        return field.payload() || field.type() == ScalarType.BINARY || field.type() == ScalarType.UTF8;
    }

    /** Returns the bytes of a sample's field. */
    public static ByteBuffer of(ReadSample sample, int field) throws CommandException {
        if (sample.isNull(field)) {
            throw new CommandException("the sample " + KeyText.line(sample.key()) + " has no value in the field "
                    + sample.fields().get(field).name());
        }
        return sample.content(field);
    }

    public static void write(ByteBuffer bytes, OutputStream out) throws IOException {
        WritableByteChannel channel = Channels.newChannel(out);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
