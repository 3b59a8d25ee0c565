package dev.stoker.cli.samples;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.metadata.files.ContentField;
import dev.stoker.schemas.arrow.types.Field;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The contents of samples, for verbs that print or write bytes. Stateless. */
public final class ContentBytes {

    private ContentBytes() {}

    /**
     * Returns the field that is the content; see {@link ContentField#choose}.
     *
     * @param name null for the usual field
     */
    public static int choose(List<Field> fields, @Nullable String name) {
        return ContentField.choose("the dataset", fields, name, "--field").index();
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
